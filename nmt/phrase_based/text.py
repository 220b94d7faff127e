"""Pairs of sentences to train or tune a phrase-based system on: all of a text, or so many of them drawn by lot."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from itertools import compress
from pathlib import Path

import numpy as np

from nmt.corpora.pairs import read_pairs, split_words
from nmt.system.files import UserError, warn

Pair = tuple[list[str], list[str]]


def add_text_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that name the training pairs."""
    parser.add_argument("--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"), help="tokenized")
    parser.add_argument("--pairs", type=int, default=0, help="how many are drawn by lot (0: all)")
    parser.add_argument("--seed", type=int, default=1234, help="of the lot")


def training_pairs(arguments: argparse.Namespace) -> list[Pair]:
    """The pairs that the options name."""
    return drawn_pairs(arguments.texts, arguments.pairs, arguments.seed)


def drawn_pairs(texts: Sequence[Path], number: int, seed: int) -> list[Pair]:
    """The words of `number` pairs (0: all) drawn with the seed, in the text's order; none has an empty side.

    Raises UserError where there is no such pair.
    """
    source, target = texts
    pairs = [(split_words(one), split_words(other)) for one, other in read_pairs(source, target)]
    pairs = [pair for pair in pairs if all(pair)]
    if not pairs:
        raise UserError(f"{source}, {target}: no pair with words on both sides; give texts that are not empty")
    if not 0 < number < len(pairs):
        return pairs
    chosen = np.zeros(len(pairs), dtype=bool)
    chosen[np.random.default_rng(seed).permutation(len(pairs))[:number]] = True
    return list(compress(pairs, chosen))


def without_gaps(sources: Sequence[str], translations: Iterable[str], name: Path) -> list[str]:
    """The translations, each one that is empty though its source is not replaced by the source, with a warning."""
    lines = []
    for number, (source, translation) in enumerate(zip(sources, translations, strict=True), 1):
        if source.strip(" ") and not translation:
            warn(f"{name}: line {number} was translated to nothing; its words are copied")
            translation = " ".join(split_words(source))
        lines.append(translation)
    return lines
