"""Tables as files: CSV, written atomically, and tab-separated ones that people write."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from types import SimpleNamespace

from nmt.system.files import UserError, atomic, read_lines

Cell = str | int | float | None


def number(value: Cell, decimals: int) -> str:
    """`value` with `decimals` digits after the point; "" for None."""
    return "" if value is None else f"{float(value):.{decimals}f}"


def write_csv(path: str | os.PathLike[str], columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Write a CSV file with a header; None becomes an empty cell."""
    with atomic(path) as partial, open(partial, "w", encoding="utf-8", newline="") as file:
        # With another lineterminator, a carriage return in a cell would not be quoted.
        writer = csv.writer(SimpleNamespace(write=lambda row: file.write(row.removesuffix("\r\n") + "\n")))
        writer.writerow(columns)
        writer.writerows(rows)


def read_csv(path: str | os.PathLike[str], columns: Sequence[str]) -> list[list[str]]:
    """The rows of a CSV file below its header. Raises UserError unless the header is `columns`."""
    rows = list(csv.reader(io.StringIO("\n".join(read_lines(path)), newline="")))
    return _below_header(path, rows, columns, "make the file again")


def read_tsv(path: str | os.PathLike[str], columns: Sequence[str]) -> list[list[str]]:
    """The same of a file with tabs between its cells, which may hold anything else."""
    rows = [line.split("\t") for line in read_lines(path)]
    return _below_header(path, rows, columns, "correct the file")


def _below_header(
    path: str | os.PathLike[str], rows: list[list[str]], columns: Sequence[str], remedy: str
) -> list[list[str]]:
    if not rows or rows[0] != list(columns):
        raise UserError(f"{path}: the columns must be {', '.join(columns)}; {remedy}")
    for index, row in enumerate(rows[1:], 2):
        if len(row) != len(columns):
            raise UserError(f"{path}: row {index} has {len(row)} cells, not {len(columns)}; {remedy}")
    return rows[1:]
