"""Score one model's translations of one set: corpus BLEU on all sentences and, on request, on those without UNK.

"No UNK" is the last column of Table 1 of Bahdanau et al. (2015): the sentences whose source and reference consist of
words of the shortlists, in translations decoded with the unknown word forbidden.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import islice
from typing import Any

from nmt.corpora.detokenize import detokenizer
from nmt.corpora.languages import TOKENIZED
from nmt.corpora.pairs import split_words
from nmt.corpora.shortlist import Shortlist, add_codes_argument, read_shortlists
from nmt.evaluation.bleu import RUNNING_TEXT, add_tokenizer_argument, corpus_bleu
from nmt.evaluation.sentences import read_parallel
from nmt.system.errors import warn
from nmt.system.options import Output
from nmt.system.text import write_json

LOW_CEILING = 99.0  # in BLEU
EXAMPLES = 3  # of the lines that change


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", required=True, help="tokenized source sentences, one a line")
    parser.add_argument("--reference", required=True, help="tokenized reference translations")
    parser.add_argument("--raw-reference", required=True, help="the same references, not tokenized")
    parser.add_argument(
        "--language", nargs="?", help="the target language, such as fr; none where the raw text is tokenized, too"
    )
    parser.add_argument(
        "--shortlists", required=True, nargs=2, metavar=("SOURCE", "TARGET"), help="the words that the model knows"
    )
    add_codes_argument(parser)
    add_tokenizer_argument(parser)
    parser.add_argument("--translation", required=True, help="translations of all sentences, UNK allowed")
    parser.add_argument(
        "--translation-no-unk",
        nargs="?",
        help="translations with UNK forbidden, one line for each sentence (default: none)",
    )
    parser.add_argument("--output", type=Output, required=True, help="JSON of BLEU in percent and numbers of sentences")


def known_lines(
    sources: Sequence[str], references: Sequence[str], source_shortlist: Shortlist, target_shortlist: Shortlist
) -> list[int]:
    """Indices of the pairs whose words are all on the shortlists of their sides."""
    return [
        index
        for index, (source, reference) in enumerate(zip(sources, references, strict=True))
        if source_shortlist.knows(split_words(source)) and target_shortlist.knows(split_words(reference))
    ]


def score(
    translations: Sequence[str],
    references: Sequence[str],
    raw_references: Sequence[str],
    language: str | None,
    tokenizer: str = TOKENIZED,
) -> dict[str, Any]:
    """Both BLEU scores in percent (None without sentences), their signatures and the number of sentences.

    Where the text itself is running text, both scores are computed on it, with the same `tokenizer`; without a
    `language` it came tokenized, and both are of the tokens. The ceiling is the detokenized BLEU of a perfect
    translation: of the references, tokenized and detokenized.
    """
    bleu, signature = corpus_bleu(translations, references, tokenizer)
    of_running_text = RUNNING_TEXT if tokenizer == TOKENIZED and language else tokenizer
    detokenize = detokenizer(language) if language else str
    raw_bleu, raw_signature = corpus_bleu([detokenize(line) for line in translations], raw_references, of_running_text)
    ceiling, _ = corpus_bleu([detokenize(line) for line in references], raw_references, of_running_text)
    return {
        "bleu": bleu,
        "sentences": len(translations),
        "signature": signature,
        "detokenized_bleu": raw_bleu,
        "detokenized_ceiling": ceiling,
        "detokenized_signature": raw_signature,
    }


def run(arguments: argparse.Namespace) -> None:
    given = {"all": arguments.translation, "no_unk": arguments.translation_no_unk}
    parts = {part: path for part, path in given.items() if path is not None}
    source, reference, raw_reference, *translations = read_parallel(
        arguments.source, arguments.reference, arguments.raw_reference, *parts.values()
    )
    known = known_lines(source, reference, *read_shortlists(arguments))
    indices = {"all": list(range(len(source))), "no_unk": known}
    scores = {
        part: score(
            [lines[index] for index in indices[part]],
            [reference[index] for index in indices[part]],
            [raw_reference[index] for index in indices[part]],
            arguments.language,
            arguments.bleu_tokenizer,
        )
        for part, lines in zip(parts, translations, strict=True)
    }
    write_json(arguments.output, scores)
    ceiling = scores["all"]["detokenized_ceiling"]
    if arguments.language and ceiling is not None and ceiling < LOW_CEILING:
        warn_of_ceiling(ceiling, reference, raw_reference, arguments)


def warn_of_ceiling(
    ceiling: float, references: Sequence[str], raw_references: Sequence[str], arguments: argparse.Namespace
) -> None:
    """Warn that detokenization does not restore the references, and show some that it changes.

    If it changes none, they are only too short for BLEU.
    """
    detokenize = detokenizer(arguments.language)
    pairs = ((" ".join(raw.split()), detokenize(line)) for raw, line in zip(raw_references, references, strict=True))
    changed = list(islice(((raw, returned) for raw, returned in pairs if raw != returned), EXAMPLES))
    if changed:
        warn(
            f"{arguments.raw_reference}: a perfect translation would score {ceiling:.1f} BLEU, because its tokens do "
            "not say where its spaces are: " + "; ".join(f"{raw!r} becomes {returned!r}" for raw, returned in changed)
        )
