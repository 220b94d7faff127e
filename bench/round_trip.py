"""Measure how much text comes back unchanged after tokenizing and detokenizing, and after cutting into pieces.

Each file has a sentence on each line and ends in the code of its language, such as `news.fr` or `news.fr.xz`; a folder
stands for the files in it. The ceiling is the detokenized BLEU of a perfect translation. Pieces are learned from every
second line, and the other lines are cut.
"""

from __future__ import annotations

import lzma
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from bench.table import make_parser, one_line_mistakes, parse, write
from nmt.corpora.detokenize import detokenizer
from nmt.corpora.learn_pieces import learn
from nmt.corpora.normalization import normalized
from nmt.corpora.tokenize import Tokenizer, spaced
from nmt.evaluation.bleu import RUNNING_TEXT, corpus_bleu
from nmt.settings.sections import NFC
from nmt.system.errors import UserError
from nmt.system.text import decode_lines

SYMBOLS = 700  # pieces of a text


class Text(NamedTuple):
    name: str
    language: str
    lines: list[str]


def read(path: Path) -> Text:
    """The normalized text of a file, its white space reduced to single spaces, which tokens do not keep.

    Raises UserError if it cannot be read, or has fewer than two lines.
    """
    packed = path.suffix == ".xz"
    name, _, language = (path.stem if packed else path.name).rpartition(".")
    try:
        with lzma.open(path) if packed else path.open("rb") as file:
            lines = [spaced(normalized(line, NFC)) for line in decode_lines(file, path)]
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise UserError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    if not any(lines[::2]) or len(lines) < 2:
        raise UserError(f"{path}: too short; two lines are needed, of which the first is not empty")
    return Text(name, language, lines)


def measure(text: Text) -> dict[str, object]:
    """A row of the table: how many of the lines come back, in percent, and the ceiling; and the same of pieces."""
    tokenize, detokenize = Tokenizer(text.language).line, detokenizer(text.language)
    returned = [detokenize(tokenize(line)) for line in text.lines]
    exact = sum(map(str.__eq__, returned, text.lines))
    try:
        pieces, others = learn(filter(None, text.lines[::2]), SYMBOLS), text.lines[1::2]
    except UserError as error:
        raise UserError(f"{text.name}.{text.language}: {error}") from None
    cut = [pieces.split([line]) for line in others]
    joined = [" ".join(pieces.join(line)) for line in cut]
    return {
        "text": text.name,
        "language": text.language,
        "lines": len(text.lines),
        "exact_percent": 100 * exact / len(text.lines),
        "ceiling": corpus_bleu(returned, text.lines, RUNNING_TEXT)[0],
        "pieces_exact_percent": 100 * sum(map(str.__eq__, joined, others)) / len(others),
        "unknown_pieces": len({*chain.from_iterable(cut)} - {*pieces.symbols}),
    }


@one_line_mistakes("round_trip")
def main(words: list[str] | None = None) -> None:
    parser = make_parser("round_trip", __doc__)
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE")
    arguments = parse(parser, words)
    files = [file for path in arguments.paths for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    if not files:
        raise UserError(f"{arguments.paths[0]}: no files in it")
    rows = [measure(read(file)) for file in files]
    write(pd.DataFrame(rows), arguments.output)


if __name__ == "__main__":
    main()
