"""The text of a phrase-based system: pairs to train or tune it on, and lines for its language model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from sys import intern

import numpy as np

from nmt.corpora.pairs import read_pairs, split_words
from nmt.system.errors import UserError, warn
from nmt.system.text import read_lines

Pair = tuple[list[str], list[str]]
# What separates the columns of a phrase table, and what stands for a word that looks like it (U+2060 is invisible).
SEPARATOR = "|||"
ESCAPED = "|\u2060||"


def split_escaped(line: str) -> list[str]:
    """The words of a tokenized line, with SEPARATOR escaped."""
    return [ESCAPED if word == SEPARATOR else word for word in split_words(line)]


def join_escaped(words: Iterable[str]) -> str:
    """The inverse of `split_escaped`."""
    return " ".join(SEPARATOR if word == ESCAPED else word for word in words)


def drawn_pairs(texts: Sequence[Path], number: int, seed: int) -> list[Pair]:
    """The words of `number` pairs (0: all) drawn at random, in the text's order; pairs with an empty side are left out.

    Every step that is given the same texts, number and seed draws the same pairs. Raises UserError if there are none.
    """
    source, target = texts
    pairs = [(_words(one), _words(other)) for one, other in read_pairs(source, target)]
    pairs = [pair for pair in pairs if all(pair)]
    if not pairs:
        raise UserError(f"{source}, {target}: no pair with words on both sides; give texts that are not empty")
    if not 0 < number < len(pairs):
        return pairs
    chosen = np.random.default_rng(seed).permutation(len(pairs))[:number]
    return [pairs[place] for place in sorted(chosen)]


def _words(line: str) -> list[str]:
    """The words of the line; each word is in memory once, however often it occurs."""
    return [intern(word) for word in split_escaped(line)]


def without_gaps(sources: Sequence[str], translations: Iterable[str], name: Path) -> list[str]:
    """The translations; where one is empty and its source is not, the source is copied, with a warning."""
    lines = []
    for number, (source, translation) in enumerate(zip(sources, translations, strict=True), 1):
        if source.strip(" ") and not translation:
            warn(f"{name}: line {number}: the translation is empty; the source is copied")
            translation = " ".join(split_words(source))
        lines.append(translation)
    return lines


def add_text_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the text."""
    parser.add_argument("--texts", nargs="+", type=Path, required=True, help="tokenized, in the target language")
    parser.add_argument(
        "--held-out", nargs="*", type=Path, default=[], help="tokenized; lines that occur here are dropped"
    )


def text_lines(texts: Sequence[Path], held_out: Sequence[Path]) -> Iterator[str]:
    """Yield the lines of `texts` that do not occur in `held_out`, and print the number of all others at the end."""
    excluded = {line for path in held_out for line in read_lines(path)} - {""}
    dropped = 0
    for path in texts:
        for line in read_lines(path):
            if line in excluded:
                dropped += 1
            else:
                yield line
    print(f"language model: lines of the held-out sets dropped: {dropped:,}", file=sys.stderr)
