"""Rate the pairs of a text by bilingual cross-entropy difference (Axelrod et al., 2011).

A pair (s, t) has the rating [H_in(s) - H_out(s)] + [H_in(t) - H_out(t)], where H is the cross-entropy per word, in
bits, under an n-gram model of that language: "in" is estimated on in-domain text, "out" on text in general (the step
estimate). Low is good. The ratings of all pairs, kept or not, stay in a file: float32, shape (pairs,).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmt.corpora.arrays import write_array
from nmt.corpora.clean import PAIRS_A_PIECE, Pair
from nmt.corpora.pairs import byte_lines, read_byte_pairs
from nmt.corpora.train_lm import KINDS, SIDES, load_model, mask
from nmt.system.progress import Progress

RATING = np.dtype("<f4")
BITS = log2(10)  # KenLM's logarithms are decimal


@dataclass(frozen=True)
class Models:
    """For each side its vocabulary, in-domain and general model."""

    known: list[frozenset[bytes]]
    inside: list[Any]  # kenlm.Model
    outside: list[Any]

    @classmethod
    def read(cls, folder: Path) -> Models:
        """The models that the step estimate wrote; UserError where one is missing or broken."""
        known = [frozenset(byte_lines(folder / f"{side}.words")) for side in SIDES]
        inside, outside = ([load_model(folder / f"{side}.{kind}.arpa") for side in SIDES] for kind in KINDS)
        return cls(known, inside, outside)

    def rate(self, pair: Pair) -> float:
        """The cross-entropy differences of both sides, added (the module's formula); low is good."""
        rating = 0.0
        for side in range(2):
            line, words = mask(pair[side], self.known[side])
            # the end of the sentence is a word too
            rating -= (self.inside[side].score(line) - self.outside[side].score(line)) * BITS / (words + 1)
        return rating


def rate(pairs: Iterable[Pair], models: Models) -> Iterator[NDArray[np.float32]]:
    """The ratings of `pairs` in order, a piece at a time."""
    ratings = (models.rate(pair) for pair in pairs)
    while len(piece := np.fromiter(islice(ratings, PAIRS_A_PIECE), RATING)):
        yield piece


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `python -m nmt rate`."""
    parser.add_argument("--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--models", type=Path, required=True, help="the folder of the step estimate")
    parser.add_argument("--output", type=Path, required=True, help="the ratings, .npy")


def run(arguments: argparse.Namespace) -> None:
    """Rate one corpus, or one shard of it."""
    models = Models.read(arguments.models)
    with Progress(f"rate {arguments.texts[0].name}", None, "pairs") as progress:
        pairs = progress.over(read_byte_pairs(*arguments.texts))
        write_array(arguments.output, RATING, rate(pairs, models))
