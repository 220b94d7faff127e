"""Draw Figure 4: the weights of specialized dimensions of fine-grained attention in one sentence, in grey scale."""

from __future__ import annotations

import argparse

from nmt.report.drawing import add_outputs, save, style
from nmt.report.heatmap import draw
from nmt.report.panels import read_panels


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--points", required=True, help="CSV of the step dimension_weights")
    add_outputs(parser)


def run(arguments: argparse.Namespace) -> None:
    with style():
        save(draw(read_panels(arguments.points), columns=3), arguments.outputs)
