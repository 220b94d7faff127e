"""Score given translations with a trained model: log p(target | source) of each pair, in nats, end of sentence counted.

The output has a header and a row for each pair, in their order. An empty side is the end of sentence alone.
"""

from __future__ import annotations

import argparse

from nmt.search.text import add_pair_arguments, check_outputs, read_word_pairs, write_text
from nmt.system.device import add_arguments as add_device_arguments
from nmt.system.device import prepare
from nmt.system.progress import SILENT_SECONDS, Progress
from nmt.trained import load_translator
from nmt.training.likelihood import sentence_nll

WINDOW = 1000  # pairs that are sorted by length together


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_pair_arguments(parser)
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="TSV of log probability (nats) and words (end of sentence counted) of each target (standard output)",
    )
    add_device_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    check_outputs(arguments.output)
    device = prepare(arguments)
    translator = load_translator(arguments.model, device)
    sources, targets = read_word_pairs(arguments, translator.languages)
    source_ids = [translator.source.ids(words) for words in sources]
    target_ids = [translator.target.ids(words) for words in targets]
    rows = ["log_probability\twords"]
    with Progress(f"score {arguments.target}", len(targets), "pairs", silent=SILENT_SECONDS) as progress:
        for first in range(0, len(targets), WINDOW):
            window = slice(first, first + WINDOW)
            losses = sentence_nll(translator.model, source_ids[window], target_ids[window], device)
            rows += [f"{-loss:.6f}\t{len(words) + 1}" for loss, words in zip(losses, targets[window], strict=True)]
            progress.update(len(losses))
    write_text(arguments.output, rows)
