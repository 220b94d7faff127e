"""Text as the commands read and write it: files or the standard streams, running text or tokenized."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from nmt.corpora.detokenize import detokenizer
from nmt.corpora.pairs import read_pairs, split_words
from nmt.corpora.tokenize import Tokenizer
from nmt.system.files import UserError, decode_lines, read_lines, write_lines


def read_text(path: str | None) -> list[str]:
    """The lines of a file, or of standard input to its end where `path` is None."""
    if path is None:
        return list(decode_lines(sys.stdin.buffer, "standard input"))
    return list(read_lines(path))


def write_text(path: str | None, lines: Iterable[str]) -> None:
    """Write `lines` to a file, whole or not at all, or to standard output where `path` is None."""
    if path is not None:
        write_lines(path, lines)
        return
    for line in lines:
        sys.stdout.buffer.write(f"{line}\n".encode())
    sys.stdout.buffer.flush()


def check_outputs(*paths: str | None) -> None:
    """UserError where a file that is to be written is a folder: said before the work, not after it."""
    for path in paths:
        if path is not None and Path(path).is_dir():
            raise UserError(f"{path}: a folder; name a file")


def add_pair_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of a command that takes a text and its translation."""
    parser.add_argument("source", metavar="SOURCE", help="file of sentences, one a line")
    parser.add_argument("target", metavar="TARGET", help="file of their translations, one a line")
    parser.add_argument("--model", required=True, metavar="DIR", help="the folder that the step train wrote")
    parser.add_argument(
        "--tokenized", action="store_true", help="both are words with spaces between them, as the model has them"
    )


def read_word_pairs(
    arguments: argparse.Namespace, languages: tuple[str, str]
) -> tuple[list[list[str]], list[list[str]]]:
    """The words of SOURCE and of TARGET; UserError where there are no lines or the files differ in length."""
    pairs = list(read_pairs(arguments.source, arguments.target))
    if not pairs:
        raise UserError(f"{arguments.source}: empty; give at least one pair")
    source, target = (None, None) if arguments.tokenized else languages
    return to_words([line for line, _ in pairs], source), to_words([line for _, line in pairs], target)


def to_words(lines: Sequence[str], language: str | None) -> list[list[str]]:
    """The words of each line: of running text in `language`, or of tokenized text where that is None.

    A byte order mark before running text is no part of it.
    """
    if language is None:
        return [split_words(line) for line in lines]
    tokenize = Tokenizer(language).line
    return [split_words(tokenize(line.removeprefix("\ufeff"))) for line in lines]


def from_words(language: str | None) -> Callable[[Sequence[str]], str]:
    """The inverse: the function that makes a line of words."""
    if language is None:
        return " ".join
    detokenize = detokenizer(language)
    return lambda words: detokenize(" ".join(words))
