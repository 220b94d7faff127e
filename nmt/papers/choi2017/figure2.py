"""Draw Figure 2: the alignment of one sentence by several models, each for its own translation, in grey scale."""

from __future__ import annotations

import argparse

from nmt.report.drawing import add_outputs, save, style
from nmt.report.heatmap import draw
from nmt.report.panels import read_panels


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--points", required=True, help="CSV of the step model_alignments")
    add_outputs(parser)


def run(arguments: argparse.Namespace) -> None:
    with style():
        save(draw(read_panels(arguments.points), columns=3), arguments.outputs)
