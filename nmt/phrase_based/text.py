"""Sentence pairs to train or tune a phrase-based system on: a whole text or a random sample of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from pathlib import Path
from sys import intern

import numpy as np

from nmt.corpora.pairs import read_pairs, split_words
from nmt.system.files import UserError, warn

Pair = tuple[list[str], list[str]]


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
    chosen = np.zeros(len(pairs), dtype=bool)
    chosen[np.random.default_rng(seed).permutation(len(pairs))[:number]] = True
    return list(compress(pairs, chosen))


def _words(line: str) -> list[str]:
    """The words of the line; each word is in memory once, however often it occurs."""
    return [intern(word) for word in split_words(line)]


def without_gaps(sources: Sequence[str], translations: Iterable[str], name: Path) -> list[str]:
    """The translations; where one is empty and its source is not, the source is copied, with a warning."""
    lines = []
    for number, (source, translation) in enumerate(zip(sources, translations, strict=True), 1):
        if source.strip(" ") and not translation:
            warn(f"{name}: line {number}: the translation is empty; the source is copied")
            translation = " ".join(split_words(source))
        lines.append(translation)
    return lines
