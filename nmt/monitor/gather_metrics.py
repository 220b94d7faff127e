"""Gather the metrics of finished trainings in one table: the points of the learning curves.

The training NLL is that of the updates themselves, the development NLL that of the evaluations on the way, both in nats
a sentence; the development BLEU is that of greedy translations, where a training follows it. A model that continues
another continues its updates and hours. It starts from the best model of that training or, without a patience, from the
last.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from nmt.settings.checks import finite, integer, read_values
from nmt.system.errors import UserError
from nmt.system.files import SUMMARY, check_apart
from nmt.system.options import Output
from nmt.system.tables import Cell, number, write_csv
from nmt.training.metrics import METRICS, Record, read_metrics

COLUMNS = ("model", "measure", "updates", "hours", "value", "seed", "start")  # `start`: the updates before it
TRAIN_NLL, DEVELOPMENT_NLL, DEVELOPMENT_BLEU = MEASURES = ("train_nll", "development_nll", "development_bleu")
POINTS = 200  # at most this many of the training text; each is the mean of the records since the point before

Point = tuple[int, float, float]  # updates, hours, value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        required=True,
        nargs="+",
        action="append",
        metavar=("LABEL DIR", "BEFORE"),
        help="name of a model, the folder that the step train wrote and, if it continues another model, the folder of "
        "that one; once for each training",
    )
    parser.add_argument("--output", type=Output, required=True, metavar="CSV", help=f"columns {', '.join(COLUMNS)}")


def points(records: list[Record], measure: str, hours_before: float) -> list[Point]:
    """The points of one measure in the order of the updates; what a resumed training records again replaces the old."""
    found: list[Point] = []
    for record in records:
        if measure not in record:
            continue
        updates, value = int(record["updates"] or 0), record[measure]
        while found and found[-1][0] >= updates:
            found.pop()
        if value is not None:
            found.append((updates, hours_before + (record["seconds"] or 0) / 3600, value))
    return found


def thinned(found: list[Point]) -> Iterator[Point]:
    """At most POINTS points; each is the mean of equally many of `found`, and lies at the last of them."""
    each = max(1, math.ceil(len(found) / POINTS))
    for first in range(0, len(found), each):
        part = found[first : first + each]
        yield *part[-1][:2], fmean(value for _, _, value in part)


def rows(label: str, folder: Path, before: Path | None = None) -> Iterator[list[Cell]]:
    """The rows of COLUMNS of one training, which continues `before`.

    Raises UserError if the metrics in its folder are missing or not whole.
    """
    records = read_metrics(folder / METRICS)
    if not records:
        raise UserError(f"{folder / METRICS}: no metrics in it; train the model with the step train")
    if len(records) != (folder / METRICS).read_bytes().count(b"\n"):
        raise UserError(f"{folder / METRICS}: a line is not a whole record; restore the file or train the model again")
    # the summary's hours include those of the model that this one continues, the records' seconds do not
    summary = read_values(folder / SUMMARY, hours=finite(0), seed=integer(0), updates=integer(0))
    if records[-1]["updates"] != summary["updates"]:
        raise UserError(
            f"{folder / METRICS}: ends with update {records[-1]['updates']}, but the model has {summary['updates']}; "
            "restore the file or train the model again"
        )
    hours_before = summary["hours"] - (records[-1]["seconds"] or 0) / 3600
    start = read_values(before / SUMMARY, updates_best=integer(0))["updates_best"] if before else 0
    if before and start >= summary["updates"]:
        raise UserError(
            f"{before}: has {start} updates, but {folder} only {summary['updates']}; name the model that it continues"
        )
    for measure in MEASURES:
        found = points(records, measure, hours_before)
        for updates, hours, value in thinned(found) if measure == TRAIN_NLL else found:
            yield [label, measure, updates, number(hours, 5), number(value, 3), summary["seed"], start]


def run(arguments: argparse.Namespace) -> None:
    for words in arguments.model:
        if len(words) not in (2, 3):
            raise UserError(
                f"--model {' '.join(words)}: give a label, a folder and, if it continues another model, its folder"
            )
    check_apart([arguments.output], [folder for _, *folders in arguments.model for folder in folders])
    trainings = [(label, *map(Path, folders)) for label, *folders in arguments.model]
    for training in trainings:
        if trainings.count(training) > 1:
            raise UserError(f"--model {' '.join(map(str, training))}: given twice; name each training once")
    write_csv(arguments.output, COLUMNS, [row for training in trainings for row in rows(*training)])
