"""Translate text with a trained model by beam search: running text in and out, one line of output for each of input."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from nmt.corpora.pairs import align
from nmt.corpora.shortlist import EOS_SYMBOL, UNK
from nmt.model.network import Network
from nmt.search.beam import STEPS_A_WORD, BeamSettings, Hypothesis, search
from nmt.search.replace import read_dictionary, replace_unknown
from nmt.search.text import check_outputs, from_words, read_text, to_words, write_text
from nmt.system.device import add_arguments as add_device_arguments
from nmt.system.device import prepare
from nmt.system.files import UserError, read_lines, warn, write_lines
from nmt.system.progress import SILENT_SECONDS, Progress
from nmt.trained import Translator, load_translator
from nmt.training.batches import by_length

LONGEST = 1000  # words of a source line that are read


def read_sources(
    path: str | None, reference: str | None, translator: Translator, languages: tuple[str | None, str | None]
) -> list[list[str]]:
    """The words of every line of `path` or standard input, none where a line is not to be translated.

    With a `reference`, lines with a word unknown to the shortlists in either text are not.
    """
    name = path or "standard input"
    lines = read_text(path)
    if not lines:
        raise UserError(f"{name}: empty; give some text to translate")
    sources = to_words(lines, languages[0])
    if reference is not None:
        others = [other for _, other in align(lines, read_lines(reference), name, reference)]
        sources = [
            source if UNK not in [*translator.source.ids(source), *translator.target.ids(target)] else []
            for source, target in zip(sources, to_words(others, languages[1]), strict=True)
        ]
    for number, words in enumerate(sources, 1):
        if len(words) > LONGEST:
            warn(f"{name}: line {number} has {len(words)} words, of which the first {LONGEST} are translated")
            del words[LONGEST:]
    return sources


def translate(
    model: Network, sources: list[list[int]], batch: int, settings: BeamSettings
) -> Iterator[tuple[int, list[Hypothesis]]]:
    """Yield the number and best hypotheses of every source that is not empty, long ones first."""
    numbers = [number for number, source in enumerate(sources) if source]
    for places in by_length([len(sources[number]) for number in numbers], batch):
        chosen = [numbers[place] for place in places]
        yield from zip(chosen, search(model, [sources[number] for number in chosen], settings), strict=True)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, metavar="DIR", help="the folder that the step train wrote")
    parser.add_argument(
        "--source",
        metavar="FILE",
        help="text, one sentence a line, read to its end before anything is translated (standard input)",
    )
    parser.add_argument(
        "--output", metavar="FILE", help="a translation for each line, written when all are done (standard output)"
    )
    parser.add_argument(
        "--tokenized", action="store_true", help="both are words with spaces between them, as the model has them"
    )
    parser.add_argument("--beam", type=int, default=12, metavar="K", help="hypotheses of a sentence at each step (12)")
    parser.add_argument("--batch", type=int, default=32, metavar="B", help="sentences translated together (32)")
    parser.add_argument(
        "--n-best",
        type=int,
        default=1,
        metavar="N",
        help="write N translations of each line, on N lines in a row, the best first; where fewer than N ended the "
        "last are empty; at most --beam (1)",
    )
    parser.add_argument("--forbid-unk", action="store_true", help="never choose the unknown word")
    parser.add_argument(
        "--replace-unk",
        nargs="?",
        const="",
        metavar="DICTIONARY",
        help="write the source word that it looked at most for each unknown word, or that word's translation in "
        "DICTIONARY: lines of a tokenized source word, a tab and its translation (UNK is written)",
    )
    parser.add_argument(
        "--only-known",
        metavar="REFERENCE",
        help="translate only lines without a word beyond the shortlists, there and in the line of REFERENCE (all)",
    )
    parser.add_argument(
        "--minimum-length-ratio",
        type=float,
        default=0.5,
        metavar="RATIO",
        help="least words of a translation for each word of its source, ends of sentence counted (0.5)",
    )
    parser.add_argument("--normalize", action="store_true", help="rank by log probability per word instead of in all")
    parser.add_argument(
        "--scores",
        metavar="FILE",
        help="TSV with a row for each line of output: log probability (nats); words, the end of sentence counted; "
        f"ended, 0 where the search gave up at {STEPS_A_WORD} times the source's length. Empty lines: 0, 0, 0 (none)",
    )
    parser.add_argument(
        "--alignments",
        metavar="FILE",
        help="JSON lines, one for each translation: its line and rank, both from 0, the words of source and target, "
        "and the weights of each target word over the source words (none)",
    )
    add_device_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    _check(arguments)
    device = prepare(arguments)
    translator = load_translator(arguments.model, device)
    dictionary: dict[str, str] | None = None
    if arguments.replace_unk is not None:
        translator.require_attention("--replace-unk")
        dictionary = read_dictionary(arguments.replace_unk) if arguments.replace_unk else {}
    languages = (None, None) if arguments.tokenized else translator.languages
    lines = read_sources(arguments.source, arguments.only_known, translator, languages)
    settings = BeamSettings(
        arguments.beam,
        arguments.forbid_unk,
        arguments.minimum_length_ratio,
        arguments.normalize,
        arguments.n_best,
        arguments.alignments is not None or dictionary is not None,
    )
    line_of = from_words(languages[1])
    rows = arguments.n_best * len(lines)
    translations, scores, alignments = [""] * rows, ["0\t0\t0"] * rows, [""] * rows
    sources = [translator.source.ids(words) for words in lines]
    label, wanted = f"translate {arguments.source or 'standard input'}", sum(map(bool, sources))
    with Progress(label, wanted, "sentences", silent=SILENT_SECONDS) as progress:
        for number, hypotheses in translate(translator.model, sources, arguments.batch, settings):
            for rank, found in enumerate(hypotheses):
                words = translator.target.words(found.words)
                if dictionary is not None and found.alignment is not None:
                    words = replace_unknown(found.words, words, lines[number], found.alignment, dictionary)
                row = arguments.n_best * number + rank
                translations[row] = line_of(words)
                scores[row] = f"{found.log_probability:.6f}\t{found.length}\t{found.ended:d}"
                if arguments.alignments is not None:
                    alignments[row] = _alignment(number, rank, lines[number], words, found)
            progress.update(1)
    if arguments.scores is not None:
        write_lines(arguments.scores, ["log_probability\twords\tended", *scores])
    if arguments.alignments is not None:
        write_lines(arguments.alignments, filter(None, alignments))
    write_text(arguments.output, translations)


def _check(arguments: argparse.Namespace) -> None:
    """UserError where a number is out of its range or an output is a folder."""
    check_outputs(arguments.output, arguments.scores, arguments.alignments)
    if arguments.beam < 1 or arguments.batch < 1:
        raise UserError(f"--beam {arguments.beam}, --batch {arguments.batch}: both must be 1 or more")
    if not 1 <= arguments.n_best <= arguments.beam:
        raise UserError(f"--n-best {arguments.n_best}: must be from 1 to {arguments.beam}, the width of --beam")
    if not 0 <= arguments.minimum_length_ratio < STEPS_A_WORD:
        raise UserError(
            f"--minimum-length-ratio {arguments.minimum_length_ratio}: must be 0 or more and below {STEPS_A_WORD}"
        )


def _alignment(number: int, rank: int, source: list[str], target: list[str], found: Hypothesis) -> str:
    """One line of the alignments file; `weights` is null where the model has a fixed context."""
    weights = None
    if found.alignment is not None:
        weights = [[round(weight, 4) for weight in row] for row in found.alignment.tolist()]
    sides = {"source": [*source, EOS_SYMBOL], "target": [*target, EOS_SYMBOL] if found.ended else target}
    return json.dumps({"line": number, "rank": rank, **sides, "weights": weights}, ensure_ascii=False)
