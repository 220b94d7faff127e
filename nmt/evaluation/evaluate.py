"""Evaluate one model's translations of one set: corpus BLEU on all its sentences and on those without unknown words.

"No UNK" is the last column of the paper's Table 1: sentences whose source and reference hold only words of the
shortlists, in the translation for which the decoder was forbidden to write UNK.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from nmt.corpora.detokenize import detokenizer
from nmt.corpora.shortlist import Shortlist
from nmt.evaluation.bleu import detokenized_bleu, tokenized_bleu
from nmt.evaluation.sentences import read_parallel
from nmt.system.files import write_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", required=True, help="source sentences, tokenized, one a line")
    parser.add_argument("--reference", required=True, help="reference translations, tokenized")
    parser.add_argument("--raw-reference", required=True, help="the same references, not tokenized")
    parser.add_argument("--language", required=True, help="the target language, as fr")
    parser.add_argument(
        "--shortlists", required=True, nargs=2, metavar=("SOURCE", "TARGET"), help="the words that the model knows"
    )
    parser.add_argument("--translation", required=True, help="every sentence translated, UNK allowed")
    parser.add_argument("--translation-no-unk", required=True, help="every sentence translated, UNK forbidden")
    parser.add_argument("--output", required=True, help="JSON of BLEU in percent and counts of sentences")


def known_lines(
    sources: Sequence[str], references: Sequence[str], source_shortlist: Shortlist, target_shortlist: Shortlist
) -> list[int]:
    """Indices of the pairs in which every word of both sides is on its shortlist."""
    return [
        index
        for index, (source, reference) in enumerate(zip(sources, references, strict=True))
        if source_shortlist.knows(source) and target_shortlist.knows(reference)
    ]


def score(
    translations: Sequence[str], references: Sequence[str], raw_references: Sequence[str], language: str
) -> dict[str, Any]:
    """Both BLEU scores in percent (None without sentences), their signatures and the number of sentences."""
    bleu, signature = tokenized_bleu(translations, references)
    detokenize = detokenizer(language)
    raw_bleu, raw_signature = detokenized_bleu([detokenize(line) for line in translations], raw_references)
    return {
        "bleu": bleu,
        "sentences": len(translations),
        "signature": signature,
        "detokenized_bleu": raw_bleu,
        "detokenized_signature": raw_signature,
    }


def run(arguments: argparse.Namespace) -> None:
    source, reference, raw_reference, translation, no_unk = read_parallel(
        arguments.source,
        arguments.reference,
        arguments.raw_reference,
        arguments.translation,
        arguments.translation_no_unk,
    )
    source_shortlist, target_shortlist = (Shortlist.read(path) for path in arguments.shortlists)
    known = known_lines(source, reference, source_shortlist, target_shortlist)
    parts = {"all": (translation, range(len(source))), "no_unk": (no_unk, known)}
    write_json(
        arguments.output,
        {
            name: score(
                [lines[index] for index in indices],
                [reference[index] for index in indices],
                [raw_reference[index] for index in indices],
                arguments.language,
            )
            for name, (lines, indices) in parts.items()
        },
    )
