"""Alignments as a CSV file: a panel of a figure for each sentence, a row for each weight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.system.errors import UserError
from nmt.system.tables import read_csv, real, whole, write_csv

# One row for each weight; rows and columns of a matrix are counted from 0.
COLUMNS = ("panel", "row", "column", "target_word", "source_word", "weight")


@dataclass(frozen=True)
class Panel:
    """One alignment: weights (target words, source words), and the letter or number below it."""

    letter: str
    source: list[str]
    target: list[str]
    weights: NDArray[np.floating]


def write_panels(path: Path, panels: Iterable[Panel]) -> None:
    """Write a CSV file of COLUMNS, weights with six decimals; a sum that is rounded to more than 1 is 1."""
    rows = (
        [panel.letter, row, column, panel.target[row], panel.source[column], f"{min(weight, 1):.6f}"]
        for panel in panels
        for (row, column), weight in np.ndenumerate(panel.weights)
    )
    write_csv(path, COLUMNS, rows)


def read_panels(path: str, may_be_empty: bool = False) -> list[Panel]:
    """The alignments of a CSV file of COLUMNS; UserError where there is none, or a weight is missing or can be none."""
    cells: dict[str, dict[tuple[int, int], tuple[str, str, float]]] = {}
    for number, (letter, row, column, target, source, weight) in enumerate(read_csv(path, COLUMNS), 2):
        try:
            place, panel = (whole(row), whole(column)), cells.setdefault(letter, {})
            if place in panel:
                raise ValueError("this weight is there twice")
            panel[place] = (target, source, real(weight, 0, 1))
        except ValueError as error:
            raise UserError(f"{path}: row {number}: {error}; make the file again") from None
    if not cells and not may_be_empty:
        raise UserError(f"{path}: no alignment in it; make the file again")
    panels = []
    for letter, matrix in cells.items():
        rows, columns = (1 + max(index[axis] for index in matrix) for axis in (0, 1))
        if len(matrix) != rows * columns:
            raise UserError(
                f"{path}: panel {letter} has {len(matrix)} weights, not {rows * columns}; make the file again"
            )
        panels.append(
            Panel(
                letter,
                [matrix[0, column][1] for column in range(columns)],
                [matrix[row, 0][0] for row in range(rows)],
                np.array([[matrix[row, column][2] for column in range(columns)] for row in range(rows)]),
            )
        )
    return panels
