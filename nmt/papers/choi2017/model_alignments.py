"""Compute the alignments of one sentence by several models, each for its own translation, for Figure 2.

The weights of fine-grained attention are averaged over the dimensions of an annotation (Section 5.2).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nmt.evaluation.sentences import paired
from nmt.papers.choi2017.weights import add_line_argument, encode_line
from nmt.report.panels import Panel, write_panels
from nmt.search.alignments import alignments
from nmt.system.options import Output, add_device_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", required=True, nargs="+", type=Path, metavar="DIR", help="folders that the step train wrote"
    )
    parser.add_argument("--labels", required=True, nargs="+", help="names of the models")
    parser.add_argument("--source", required=True, metavar="FILE", help="tokenized sentences")
    parser.add_argument(
        "--translation", required=True, nargs="+", metavar="FILE", help="symbols of each model's translations"
    )
    add_line_argument(parser)
    parser.add_argument("--output", type=Output, required=True, metavar="CSV")
    add_device_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    # These import PyTorch, which takes seconds: too long for --help.
    from nmt.system.device import prepare
    from nmt.trained import load_trained

    device = prepare(arguments)
    models = paired(arguments.labels, "--model", arguments.model)
    translations = paired(arguments.labels, "--translation", arguments.translation)
    panels = []
    for label, folder in models.items():
        trained = load_trained(folder, device)
        trained.require_attention("Figure 2")
        sentence = encode_line(trained, arguments.source, translations[label], arguments.line)
        [weights] = alignments(trained.model, [sentence.source_ids], [sentence.target_ids])
        panels.append(Panel(label, sentence.source, sentence.target, weights))
    write_panels(arguments.output, panels)
