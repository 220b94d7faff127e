"""Learn byte pair encoding (Sennrich et al., 2016) from training text: of one language, or of both together.

The number of merges leaves room, among `symbols`, for the unknown word and for the characters, which are counted
separately at the end of a word and elsewhere. Rare characters, beyond the most frequent ones that make up COVERED of
the text, are not counted. The shortlist keeps the most frequent `symbols` of all.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections import Counter
from itertools import accumulate
from pathlib import Path

from nmt.corpora.shortlist import count_words
from nmt.corpora.subwords import MARK, is_divisible
from nmt.settings.sections import BytePairs
from nmt.system.errors import UserError
from nmt.system.options import Output
from nmt.system.progress import Progress
from nmt.system.text import read_lines, write_lines

COVERED = 0.9999


def count_characters(words: Counter[str]) -> int:
    """How many characters make up COVERED of the text; one that ends a word counts as another character."""
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for character in word[:-1]:
            counts[character + MARK] += count
        counts[word[-1]] += count
    needed = COVERED * counts.total()
    return 1 + sum(total < needed for total in accumulate(sorted(counts.values(), reverse=True)))


class _Codes(io.StringIO):
    """The codes as they are written, line by line."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress = progress

    def write(self, line: str) -> int:
        self._progress.update(1)
        return super().write(line)


def learn(words: Counter[str], merges: int, progress: Progress) -> list[str]:
    """The lines of the file of codes: its version, then at most `merges` merges, all of pairs that occur twice."""
    from subword_nmt.learn_bpe import learn_bpe

    codes = _Codes(progress)
    with contextlib.redirect_stderr(io.StringIO()):  # its own bar
        learn_bpe([f"{word} {count}" for word, count in words.items()], codes, merges, is_dict=True)
    return codes.getvalue().removesuffix("\n").split("\n")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--inputs", type=Path, nargs="+", required=True, help="tokenized text, of one side or both")
    BytePairs.add_argument(parser)
    parser.add_argument("--output", type=Output, required=True, help="the codes, a merge a line")


def run(arguments: argparse.Namespace) -> None:
    words: Counter[str] = Counter()
    name = ", ".join(map(str, arguments.inputs))
    for path in arguments.inputs:
        with Progress(f"learn_bpe {path.name}", None, "lines") as progress:
            words += count_words(progress.over(read_lines(path)))[0]
    for word in [word for word in words if not is_divisible(word) or "\r" in word]:  # it would end a line of codes
        del words[word]
    if not any(len(word) > 1 for word in words):
        raise UserError(f"{name}: no words of two characters to merge; check the steps before this one")
    symbols, characters = arguments.settings.symbols, count_characters(words)
    merges = symbols - 1 - characters
    if merges < 1:
        raise UserError(
            f"{name}: bpe.symbols is {symbols}, but the text has {characters} characters; raise bpe.symbols"
        )
    with Progress("learn_bpe", merges, "merges") as progress:
        write_lines(arguments.output, learn(words, merges, progress))
