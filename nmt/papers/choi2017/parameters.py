"""Count the parameters of each model, part by part, and how many more it has than its baseline.

A part is a module of the network, such as `decoder.attention`. The CSV has a row for each model and part.
"""

from __future__ import annotations

import argparse
from collections import Counter

from nmt.evaluation.sentences import paired
from nmt.papers.choi2017.comparisons import add_compare_argument, baselines
from nmt.papers.choi2017.printed import printed_number, read_printed
from nmt.report.markup import add_table_arguments, escape_markdown, heading, markdown_table
from nmt.system.errors import UserError
from nmt.system.tables import write_csv
from nmt.system.text import write_lines
from nmt.trained import load_model

COLUMNS = ("pair", "model", "part", "parameters")
NONE = "–"  # a model that is compared with none
PAPER = (
    "In brackets: what the paper prints. At its sizes the fine-grained attention adds 4.0 million weights, the 2,000 x "
    "2,000 of its scores in place of 2,000. So +3.5 % fits every AttY of 112.6 to 115.9 million parameters and +3.4 % "
    "every C+AttY of 115.9 to 119.3 million. Other readings of what the paper leaves open lie there as well, such as a "
    "decoder of two LSTM cells, as in its authors' public code, with 113.5 million: that ours fits is no proof."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pair", required=True, help="the pair of languages, such as En-De")
    parser.add_argument("--models", required=True, nargs="+", help="weights of the step train, a file for each model")
    parser.add_argument("--labels", required=True, nargs="+", help="names of the models, in the table's order")
    add_compare_argument(parser, required=False)
    add_table_arguments(parser, printed=True)


def count(path: str) -> Counter[str]:
    """Part -> number of parameters of the model in `path`, in the order of the network."""
    found: Counter[str] = Counter()
    for name, parameter in load_model(path).state_dict().items():
        found[name.rpartition(".")[0]] += parameter.numel()
    return found


def run(arguments: argparse.Namespace) -> None:
    counts = {label: count(path) for label, path in paired(arguments.labels, "--models", arguments.models).items()}
    compared = baselines(arguments.compare)
    for label in [*compared, *compared.values()]:
        if label not in counts:
            raise UserError(f"--compare: {label} is not among --labels; name one of them")
    printed = read_printed(arguments.printed)
    rows = [[arguments.pair, label, part, size] for label, found in counts.items() for part, size in found.items()]
    more = []
    for label, found in counts.items():
        theirs = printed_number(printed, arguments.pair, label, "more_parameters")
        if label in compared:
            ours = 100 * (found.total() / counts[compared[label]].total() - 1)
            more.append(f"{ours:+.2f} %" + (f" (+{theirs} %)" if theirs else ""))
        else:
            more.append(NONE)
    write_csv(arguments.output_csv, COLUMNS, rows)
    write_lines(arguments.output_md, markdown(counts, more, arguments.generated))


def markdown(counts: dict[str, Counter[str]], more: list[str], generated: bool) -> list[str]:
    """A line for each part, their sum and, if any, how many `more` than its baseline a model has (the paper's)."""
    parts = dict.fromkeys(part for found in counts.values() for part in found)
    lines = [
        *([f"`{part}`", *(f"{found[part]:,}" for found in counts.values())] for part in parts),
        ["All", *(f"{found.total():,}" for found in counts.values())],
        *([["More than the baseline", *more]] if set(more) != {NONE} else []),
    ]
    table = markdown_table(["Part", *map(escape_markdown, counts)], lines)
    has_printed = any("(" in cell for cell in more)
    return [*heading("Parameters", generated), *table, *(["", PAPER] if has_printed else [])]
