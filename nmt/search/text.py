"""Reading and writing text for the commands: files or standard streams, plain or tokenized."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.corpora.normalization import normalized
from nmt.corpora.pairs import LONGEST, read_pairs
from nmt.settings.sections import Translate
from nmt.settings.variant import PRECISIONS
from nmt.system.errors import UserError, warn
from nmt.system.files import standard_input
from nmt.system.text import decode_lines, read_lines, write_lines

if TYPE_CHECKING:
    from nmt.corpora.shortlist import Shortlist
    from nmt.trained import TrainedModel


def read_text(path: str | None) -> list[str]:
    """The lines of a file, or of all standard input if `path` is None."""
    if path is None:
        return list(decode_lines(standard_input(), "standard input"))
    return list(read_lines(path))


def write_text(path: str | None, lines: Iterable[str]) -> None:
    """Write `lines` to a file, atomically, or to standard output if `path` is None."""
    if path is not None:
        write_lines(path, lines)
        return
    for line in lines:
        sys.stdout.buffer.write(f"{line}\n".encode())
    sys.stdout.buffer.flush()


def add_model_argument(parser: argparse.ArgumentParser) -> None:
    """The option --model of a command that uses a trained model."""
    parser.add_argument(
        "--model",
        required=True,
        type=Path,
        metavar="DIR",
        help="folder of the trained model, such as data/EXPERIMENT/models/VARIANT",
    )


def add_precision_argument(parser: argparse._ActionsContainer) -> None:
    """The option --precision of a command that uses a trained model."""
    parser.add_argument(
        "--precision",
        default=Translate.precision,
        choices=PRECISIONS,
        help="precision of matrix products; sums stay float32. bf16 is faster where the processor or GPU multiplies "
        "bfloat16 numbers (default: %(default)s)",
    )


def add_pair_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of a command that uses a trained model on a text and its translation."""
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help=f"text in the source language, one sentence per line; at most {LONGEST} words of a line are used",
    )
    parser.add_argument("target", metavar="TARGET", help="its translation, line by line, with the same limit")
    add_model_argument(parser)
    parser.add_argument(
        "--tokenized",
        action="store_true",
        help="SOURCE and TARGET are tokenized already, with spaces between words (default: plain text)",
    )


def read_symbol_pairs(arguments: argparse.Namespace, trained: TrainedModel) -> tuple[list[list[str]], list[list[str]]]:
    """The symbols (words or subwords) of each line of SOURCE and of TARGET, cut after LONGEST of them.

    Raises UserError if the files are empty or differ in length.
    """
    pairs = list(read_pairs(arguments.source, arguments.target))
    if not pairs:
        raise UserError(f"{arguments.source}: empty; give at least one pair")
    sources, targets = zip(*pairs, strict=True)
    tokenized = arguments.tokenized
    return (
        to_symbols(to_words(sources, trained, 0, tokenized), trained.source, arguments.source),
        to_symbols(to_words(targets, trained, 1, tokenized), trained.target, arguments.target),
    )


def to_symbols(lines: Sequence[list[str]], shortlist: Shortlist, name: str, first: int = 1) -> list[list[str]]:
    """The symbols of each of `lines`, cut after LONGEST with a warning, which names text `name` from line `first`."""
    unit = "words" if shortlist.codes is None else "subwords"
    split = list(shortlist.split_lines(lines, name))
    for number, symbols in enumerate(split, first):
        if len(symbols) > LONGEST:
            warn(f"{name}: line {number} has {len(symbols)} {unit}; only the first {LONGEST} are used")
    return [symbols[:LONGEST] for symbols in split]


def to_words(lines: Sequence[str], trained: TrainedModel, side: int, tokenized: bool = False) -> list[list[str]]:
    """The words of each line of the source (0) or target (1), prepared like the text that the model was trained on.

    Plain text is tokenized; `tokenized` text has white space between its words already.
    """
    language = None if tokenized else trained.tokenizers[side]
    tokenize = _tokenizer(language) if language else str
    return [tokenize(normalized(line, trained.normalize)).split() for line in lines]


@cache
def _tokenizer(language: str) -> Callable[[str], str]:
    from nmt.corpora.tokenize import Tokenizer

    return Tokenizer(language).line
