"""Rate each pair by its bilingual cross-entropy difference (Axelrod et al., 2011).

The rating of a pair (s, t) is [H_in(s) - H_out(s)] + [H_in(t) - H_out(t)], where H is the cross-entropy in bits per
word under an n-gram language model: H_in under the in-domain model, H_out under the general one (see
`nmt.corpora.train_lm`). Pairs like the in-domain text have low ratings. The ratings of all pairs, selected or not, are
kept in a file: float32, shape (pairs,).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

import numpy as np

from nmt.corpora.arrays import in_pieces, write_array
from nmt.corpora.clean import Pair
from nmt.corpora.pairs import byte_lines, read_byte_pairs
from nmt.corpora.train_lm import FILES, KINDS, META, SIDES, load_model, mask
from nmt.settings.checks import each, read_values, text
from nmt.system.checksums import unreplaced, verify
from nmt.system.options import Output
from nmt.system.progress import Progress

RATING = np.dtype("<f4")
BITS = log2(10)  # KenLM's logarithms have base 10


@dataclass(frozen=True)
class Models:
    """The vocabulary and the two language models of each side, source first."""

    known: list[frozenset[bytes]]
    in_domain: list[Any]  # kenlm.Model
    general: list[Any]

    @classmethod
    def read(cls, folder: Path) -> Models:
        """The models that the step train_lm wrote together. Raises UserError if one is missing, broken or replaced."""
        with unreplaced(folder / META):
            digests = read_values(folder / META, digests=each(FILES, text()))["digests"]
            verify(folder / META, digests, "train the language models again")
            known = [frozenset(byte_lines(folder / f"{side}.words")) for side in SIDES]
            in_domain, general = ([load_model(folder / f"{side}.{kind}.arpa") for side in SIDES] for kind in KINDS)
        return cls(known, in_domain, general)

    def rating(self, pair: Pair) -> float:
        """The sum of the cross-entropy differences of both sides; low means like the in-domain text."""
        rating = 0.0
        for side in range(2):
            line, words = mask(pair[side], self.known[side])
            # the end of the sentence counts as a word
            rating -= (self.in_domain[side].score(line) - self.general[side].score(line)) * BITS / (words + 1)
        return rating


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"), help="tokenized")
    parser.add_argument("--models", type=Path, required=True, help="folder that the step train_lm wrote")
    parser.add_argument("--output", type=Output, required=True, help="the ratings, .npy")


def run(arguments: argparse.Namespace) -> None:
    models = Models.read(arguments.models)
    with Progress(f"score_pairs {arguments.texts[0].name}", None, "pairs") as progress:
        pairs = progress.over(read_byte_pairs(*arguments.texts))
        write_array(arguments.output, RATING, in_pieces(map(models.rating, pairs), RATING))
