"""The tables and pictures of docs/demonstration.md, those of the demonstrations, in docs/demonstration.

After `make demo` and `make demo-choi`, `python -m tests.demonstration` copies what both have found, and writes the
document's tables again. A picture lies beside the CSV of its points. A table stands below a line that names its file,
<!-- FILE -->, up to the next empty line.
"""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from nmt.report.markup import escape_markdown, markdown_table
from tests.numbers import ROOT

PAGE = ROOT / "docs/demonstration.md"
COPIES = ROOT / "docs/demonstration"
ALIGNMENTS = ROOT / "docs/demo-alignments.png"  # the picture of demo/figure3, which README.md shows
Rows = list[dict[str, str]]


def first_scores(rows: Rows) -> list[str]:
    return markdown_table(["", "BLEU"], [[escape_markdown(row["model"]), row["all"]] for row in rows])


def by_length(rows: Rows) -> list[str]:
    """A column for each model, a line for each bin of lengths that has sentences."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    bleu = {(row["length_from"], row["model"]): row["bleu"] for row in rows}
    bins = dict.fromkeys((row["length_from"], row["length_to"]) for row in rows)
    lines = [
        [f"{int(start) + 1} to {end}" if end else f"{int(start) + 1} and more", *(bleu[start, one] for one in models)]
        for start, end in bins
        if any(bleu[start, one] for one in models)
    ]
    return markdown_table(["words", *map(escape_markdown, models)], lines)


def second_scores(rows: Rows) -> list[str]:
    """The model that stops the training is chosen by the first column."""
    greedy = {row["model"]: row for row in rows if row["beam"] == "1"}
    lines = [
        [row["model"], greedy[row["model"]]["development"], greedy[row["model"]]["test"], row["test"]]
        for row in rows
        if row["beam"] != "1"
    ]
    return markdown_table(["", "development, greedy", "test, greedy", "test, beam 12"], lines)


def differences(rows: Rows) -> list[str]:
    """Of all sentences, by beam and greedy search."""
    search = {"all": "beam 12", "greedy": "greedy"}
    lines = [
        [
            f"{row['system']} against {row['baseline']}",
            search[row["part"]],
            f"{float(row['difference']):+.2f}",
            *(row[column] for column in ("p_value", "p_holm")),
        ]
        for row in rows
    ]
    return markdown_table(["", "search", "difference", "p", "p (Holm)"], lines)


def dimensions(rows: Rows) -> list[str]:
    columns = {"class": "", "dimension": "dimension", "statistic": "statistic", "permuted": "by chance", "p": "p"}
    columns |= {"p_holm": "p (Holm)"}
    return markdown_table(list(columns.values()), [[row[column] for column in columns] for row in rows])


TABLES: dict[str, Callable[[Rows], list[str]]] = {
    "demo/table1.csv": first_scores,
    "demo/figure2.csv": by_length,
    "demo-choi/table1.csv": second_scores,
    "demo-choi/significance.csv": differences,
    "demo-choi/specialized_dimensions.csv": dimensions,
}
PICTURES = ("demo/figure2", "demo/figure3", "demo-choi/figure2", "demo-choi/figure3", "demo-choi/figure4")


def picture(name: str) -> Path:
    """Where the document's picture `name` lies."""
    return ALIGNMENTS if name == "demo/figure3" else COPIES / f"{name}.png"


def with_tables(text: str) -> str:
    """The document with the tables of the copies; one that was never made stays away."""

    def written(match: re.Match[str]) -> str:
        name = match[1]
        if not (COPIES / name).exists():
            return match[0]
        with open(COPIES / name, newline="") as file:
            lines = TABLES[name](list(csv.DictReader(file)))
        return "\n".join([f"<!-- {name} -->", "", *lines, ""])

    return re.sub(r"^<!-- (\S+\.csv) -->\n(?:\n(?:\|.*\n)+)?", written, text, flags=re.MULTILINE)


if __name__ == "__main__":
    for name in {*TABLES, *(f"{name}.csv" for name in PICTURES)}:
        (COPIES / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "results" / name, COPIES / name)
    for name in PICTURES:
        shutil.copyfile(ROOT / f"results/{name}.png", picture(name))
    PAGE.write_text(with_tables(PAGE.read_text()))
