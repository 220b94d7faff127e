"""Draw Figure 4: the weights of specialized dimensions of fine-grained attention in one sentence, in grey scale."""

from __future__ import annotations

import argparse

from nmt.report.drawing import add_outputs, save, style
from nmt.report.heatmap import draw
from nmt.report.panels import read_panels
from nmt.system.errors import warn


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--points", required=True, help="CSV of the step dimension_weights")
    add_outputs(parser)


def run(arguments: argparse.Namespace) -> None:
    panels = read_panels(arguments.points, may_be_empty=True)
    if not panels:
        warn(f"{arguments.points}: no weights in it; Figure 4 is empty")
    with style():
        save(draw(panels, columns=3, otherwise="no words in the translations"), arguments.outputs)
