"""Compute how much single dimensions of fine-grained attention attend to each symbol of a sentence, for Figure 3.

This is A_t,d, the mean of alpha_t',t^d over the target symbols (Section 5.2), of the first dimensions.
"""

from __future__ import annotations

import argparse

import numpy as np

from nmt.papers.choi2017.settings import Figure3
from nmt.papers.choi2017.weights import add_one_sentence_arguments, one_sentence
from nmt.system.errors import warn
from nmt.system.options import Output
from nmt.system.tables import write_csv

# Dimensions are counted from 1, positions from 0.
COLUMNS = ("position", "source_symbol", "dimension", "weight")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_one_sentence_arguments(parser)
    Figure3.add_argument(parser)
    parser.add_argument("--output", type=Output, required=True, metavar="CSV")


def run(arguments: argparse.Namespace) -> None:
    wanted: int = arguments.settings.dimensions
    sentence, alpha = one_sentence(arguments, "Figure 3")
    means = alpha.mean(axis=0)[:, :wanted]
    if means.shape[1] < wanted:
        warn(f"{arguments.model}: an annotation has {means.shape[1]} dimensions, not {wanted}; all are shown")
    rows = (
        [position, sentence.source[position], dimension + 1, f"{weight:.6f}"]
        for (position, dimension), weight in np.ndenumerate(means)
    )
    write_csv(arguments.output, COLUMNS, rows)
