"""Tables as files: CSV, written atomically, and tab-separated ones that people write."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Sequence
from types import SimpleNamespace

from nmt.system.errors import UserError
from nmt.system.files import atomic
from nmt.system.text import read_lines

Cell = str | int | float | None
SHOWN = 50  # characters of a cell, which a number has at most
LARGEST = 1e100  # sums of larger numbers may overflow


def number(value: Cell, decimals: int) -> str:
    """`value` with `decimals` digits after the point; "" for None."""
    return "" if value is None else f"{float(value):.{decimals}f}"


def whole(cell: str) -> int:
    """The count that a cell holds. Raises ValueError for anything but a few digits."""
    if not (cell.isascii() and cell.isdecimal() and len(cell) <= 15):
        raise ValueError(f"not a whole number of at most 15 digits: {cell[:SHOWN]!r}")
    return int(cell)


def real(cell: str, minimum: float = -math.inf, maximum: float = math.inf) -> float:
    """The number that a cell holds. Raises ValueError where it is none, not finite or out of range."""
    value = float(cell) if len(cell) <= SHOWN else math.nan
    if not math.isfinite(value):
        raise ValueError(f"not a finite number: {cell[:SHOWN]!r}")
    if not minimum <= value <= maximum:
        limits = f"{minimum:g} or more" if maximum == math.inf else f"from {minimum:g} to {maximum:g}"
        raise ValueError(f"not a number {limits}: {cell!r}")
    if abs(value) > LARGEST:
        raise ValueError(f"too large a number: {cell!r}")
    return value


def write_csv(path: str | os.PathLike[str], columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Write a CSV file with a header; None becomes an empty cell."""
    with atomic(path) as partial, open(partial, "w", encoding="utf-8", newline="") as file:
        # With another lineterminator, a carriage return in a cell would not be quoted.
        writer = csv.writer(SimpleNamespace(write=lambda row: file.write(row.removesuffix("\r\n") + "\n")))
        writer.writerow(columns)
        writer.writerows(rows)


def read_csv(path: str | os.PathLike[str], columns: Sequence[str]) -> list[list[str]]:
    """The rows of a CSV file below its header. Raises UserError unless the header is `columns`."""
    return _below_header(path, rows_of_csv(read_lines(path)), columns, "make the file again")


def header_of_csv(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The first row of a CSV file, empty if it has none. Raises UserError where the file is no text."""
    return tuple(next(iter(rows_of_csv(read_lines(path))), ()))


def rows_of_csv(lines: Iterable[str]) -> list[list[str]]:
    """The rows of a CSV file, header included; a cell may hold a sentence of any length."""
    csv.field_size_limit(2**31 - 1)
    return list(csv.reader(io.StringIO("\n".join(lines), newline="")))


def read_tsv(path: str | os.PathLike[str], columns: Sequence[str]) -> list[list[str]]:
    """The same for a file with tabs between its cells, which may hold anything else."""
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
