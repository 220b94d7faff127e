"""Make Table 2: how each model was trained: updates, epochs, hours, device and negative log-likelihoods.

An epoch is as many pairs as the training text has, also for a model that trains only on the short ones: for all five
models the paper's updates and epochs give 10.5 to 10.7 million pairs. A pass is over the pairs that are short enough
for the training; those of a model that another continues are added. The NLL is a mean over sentences, in nats.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from nmt.evaluation.scores import check_alike
from nmt.evaluation.sentences import paired
from nmt.papers.bahdanau2015.printed import Printed, printed_row, read_printed
from nmt.report.markup import add_table_arguments, beside, duration, escape_markdown, heading, markdown_table, span
from nmt.settings.checks import finite, integer, optional, read_values, text
from nmt.system.errors import UserError
from nmt.system.tables import Cell, number, write_csv
from nmt.system.text import write_lines

# The paper's columns: title, format of ours in the CSV, format in which the paper prints it.
STATISTICS = {
    "updates": ("Updates", "d", "d"),
    "epochs": ("Epochs", ".2f", ".1f"),
    "hours": ("Time", ".3f", ".0f"),
    "device": ("Device", "", ""),
    "train_nll": ("Train NLL", ".2f", ".1f"),
    "development_nll": ("Dev. NLL", ".2f", ".1f"),
}
MADE = ("precision", "parameters", "seed", "settings_digest")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--summaries", required=True, nargs="+", help="JSON of the step train, one file for each model")
    parser.add_argument(
        "--train-nll",
        required=True,
        nargs="+",
        help="JSON of the step nll on the pairs that a model trains on, one file for each",
    )
    parser.add_argument("--development-nll", required=True, nargs="+", help="the same on the development set")
    parser.add_argument("--labels", required=True, nargs="+", help="names of the models, in the table's order")
    add_table_arguments(parser, printed=True)


def read_nll(path: str) -> dict[str, Any]:
    """A file of the step `nll`."""
    count = integer(1)
    return read_values(Path(path), nll=finite(0), pairs=count, sentences=count)


def read_summary(path: str) -> dict[str, Any]:
    """A file of the step `train`."""
    return read_values(
        Path(path),
        updates=integer(0),
        pairs_seen=optional(integer(0)),
        passes=optional(finite(0)),
        hours=finite(0),
        device=text(),
        precision=text(),
        parameters=integer(1),
        seed=integer(0),
        settings_digest=text(),
    )


def run(arguments: argparse.Namespace) -> None:
    printed = read_printed(arguments.printed) if arguments.printed else None
    train = paired(arguments.labels, "--train-nll", arguments.train_nll)
    development = paired(arguments.labels, "--development-nll", arguments.development_nll)
    on_train, on_development = ({path: read_nll(path) for path in files.values()} for files in (train, development))
    check_alike(on_train, "pairs")
    check_alike(on_development, "pairs")
    for path, developed in on_development.items():
        if developed["sentences"] != developed["pairs"]:
            raise UserError(f"{path}: of a sample of the pairs; name the NLL of the whole development set")
    models: dict[str, dict[str, Any]] = {}
    for label, path in paired(arguments.labels, "--summaries", arguments.summaries).items():
        trained, developed, summary = on_train[train[label]], on_development[development[label]], read_summary(path)
        models[label] = summary | {
            "epochs": None if summary["pairs_seen"] is None else summary["pairs_seen"] / trained["pairs"],
            "train_nll": trained["nll"],
            "train_sentences": trained["sentences"],
            "development_nll": developed["nll"],
            "development_sentences": developed["sentences"],
        }
    write_csv(arguments.output_csv, *csv_table(models, printed))
    write_lines(arguments.output_md, markdown(models, printed, arguments.generated))


def _cell(value: Any, form: str) -> str:
    """The text of a statistic; "" for None."""
    return "" if value is None else format(value, form)


def csv_table(models: dict[str, dict[str, Any]], printed: Printed | None) -> tuple[list[str], list[list[Cell]]]:
    """Columns and rows: updates, epochs, hours, nats for each sentence, and how each model was made."""
    rows: list[dict[str, Cell]] = []
    for label, model in models.items():
        row: dict[str, Cell] = {"model": label}
        for name, (_, ours, theirs) in STATISTICS.items():
            row[name] = _cell(model[name], ours)
            if printed is not None:
                row[f"paper_{name}"] = _cell(printed_row(printed, label)[name], theirs)
        rows.append(row | {"passes": number(model["passes"], 2)} | {name: model[name] for name in MADE})
    return list(rows[0]), [list(row.values()) for row in rows]


def markdown(models: dict[str, dict[str, Any]], printed: Printed | None, generated: bool) -> list[str]:
    """The table, the paper's numbers in brackets, then how each model was made and what the columns mean."""

    def both(label: str, name: str) -> str:
        ours, theirs = models[label][name], printed_row(printed or {}, label)[name]
        if name == "hours":
            return beside(duration(ours), "" if theirs is None else f"{theirs:.0f} h")
        thousands = "," if name == "updates" else ""
        _, *forms = STATISTICS[name]
        cells = (_cell(value, thousands + form) for value, form in zip((ours, theirs), forms, strict=True))
        return beside(*map(escape_markdown, cells))

    statistics = [[escape_markdown(label), *(both(label, name) for name in STATISTICS)] for label in models]
    made = [
        [
            escape_markdown(label),
            number(model["passes"], 2),
            escape_markdown(str(model["precision"])),
            f"{model['parameters']:,}",
            str(model["seed"]),
            f"`{model['settings_digest']}`",
        ]
        for label, model in models.items()
    ]
    train, development = (
        span(model[f"{text}_sentences"] for model in models.values()) for text in ("train", "development")
    )
    return [
        *heading("Table 2: how the models were trained", generated),
        *markdown_table(["Model", *(title for title, _, _ in STATISTICS.values())], statistics),
        "",
        ("" if printed is None else "In brackets: what the paper prints. ")
        + "An update is one minibatch, an epoch as many pairs as the whole training text has, a pass all pairs that "
        "are short enough for the model; time is that spent in training. NLL is the mean negative log-likelihood of "
        f"a sentence in nats, on {train} sentences drawn from the pairs that are short enough for the model, and on "
        f"{development} of the development set, whatever their length.",
        "",
        *markdown_table(["Model", "Passes", "Precision", "Parameters", "Seed", "Settings digest"], made),
    ]
