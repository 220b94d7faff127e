"""Score translations with a trained model: the log probability of each target sentence, given its source sentence."""

from __future__ import annotations

import argparse

from nmt.search.text import add_pair_arguments, add_precision_argument, read_symbol_pairs, write_text
from nmt.system.options import Output, add_device_arguments
from nmt.system.progress import SILENT_SECONDS, Progress

EXAMPLES = """\
SOURCE and TARGET have the same number of lines, and so has the output after its header. The probability of a sentence
is that of its words and of its end; an empty line is the end of sentence alone. Words outside the model's vocabulary
are scored as the unknown word.

example:
  %(prog)s --model models/en-fr english.txt french.txt --output scores.tsv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add_pair_arguments(parser)
    parser.add_argument(
        "--output",
        type=Output,
        metavar="FILE",
        help="TSV file with a row for each pair: log_probability in nats, log p(target | source); words of the target, "
        "with the end of sentence (default: standard output)",
    )
    add_precision_argument(parser)
    add_device_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    # These import PyTorch, which takes seconds: too long for --help.
    from nmt.search.loaded import scores
    from nmt.system.device import prepare
    from nmt.trained import load_trained

    trained = load_trained(arguments.model, prepare(arguments))
    trained.freeze(arguments.precision)
    sources, targets = read_symbol_pairs(arguments, trained)
    rows = ["log_probability\twords"]
    with Progress(f"score {arguments.target}", len(targets), "pairs", silent=SILENT_SECONDS) as progress:
        for one in progress.over(scores(trained, sources, targets)):
            rows.append(f"{one.log_probability:.6f}\t{one.length}")
    write_text(arguments.output, rows)
