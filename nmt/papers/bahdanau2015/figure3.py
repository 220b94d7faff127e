"""Draw Figure 3: soft-alignments of four sentences, the weights alpha_ij (Eq. (6)) in grey scale."""

from __future__ import annotations

import argparse

from nmt.report.drawing import add_outputs, save, style
from nmt.report.heatmap import draw
from nmt.report.panels import read_panels
from nmt.system.errors import warn


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--points", required=True, help="CSV of the step sample_alignments")
    add_outputs(parser)


def run(arguments: argparse.Namespace) -> None:
    panels = read_panels(arguments.points, may_be_empty=True)
    if not panels:
        warn(f"{arguments.points}: no alignment in it; Figure 3 is empty")
    with style():
        save(draw(panels, otherwise="no sentence of 10 to 20 words without unknown words"), arguments.outputs)
