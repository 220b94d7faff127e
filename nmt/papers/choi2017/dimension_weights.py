"""Compute the weights of the specialized dimensions of fine-grained attention in one sentence, for Figure 4.

These are alpha_t',t^d (Eq. 8) of the dimensions that the step specialized_dimensions found.
"""

from __future__ import annotations

import argparse

from nmt.papers.choi2017.specialized_dimensions import COLUMNS as SPECIALIZED
from nmt.papers.choi2017.weights import add_one_sentence_arguments, one_sentence
from nmt.report.panels import Panel, write_panels
from nmt.system.errors import UserError, warn
from nmt.system.options import Output
from nmt.system.tables import SHOWN, read_csv


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_one_sentence_arguments(parser)
    parser.add_argument("--dimensions", required=True, metavar="CSV", help="what the step specialized_dimensions wrote")
    parser.add_argument("--output", type=Output, required=True, metavar="CSV")


def run(arguments: argparse.Namespace) -> None:
    chosen = [dict(zip(SPECIALIZED, row, strict=True)) for row in read_csv(arguments.dimensions, SPECIALIZED)]
    if not chosen:
        warn(f"{arguments.dimensions}: no dimensions in it, so there are no weights")
    sentence, alpha = one_sentence(arguments, "Figure 4")
    panels = []
    for row in chosen:
        name, dimension = row["class"], row["dimension"]
        if dimension not in map(str, range(1, alpha.shape[-1] + 1)):
            raise UserError(
                f"{arguments.dimensions}: {arguments.model} has no dimension {dimension[:SHOWN]}; make it again"
            )
        weights = alpha[:, :, int(dimension) - 1]
        panels.append(Panel(f"{name}, dimension {dimension}", sentence.source, sentence.target, weights))
    write_panels(arguments.output, panels)
