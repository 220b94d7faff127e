"""Draw Figure 4: the weights of specialized dimensions of fine-grained attention in one sentence, in grey scale."""

from __future__ import annotations

import argparse

from nmt.papers.choi2017 import figure2
from nmt.report.drawing import add_outputs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--points", required=True, help="CSV of the step dimension_weights")
    add_outputs(parser)


def run(arguments: argparse.Namespace) -> None:
    figure2.run(arguments)
