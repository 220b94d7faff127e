"""Figure 3: soft-alignments in grey scale, source words on the x axis and the words of the translation on the y axis.

Each pixel is the weight alpha_ij (Eq. (6)) of the j-th source word for the i-th output word; 0 is black, 1 white.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from nmt.corpora.detokenize import unescape
from nmt.papers.bahdanau2015.samples import COLUMNS
from nmt.report.drawing import add_outputs, literal, save, style
from nmt.system.files import UserError, warn
from nmt.system.tables import read_csv


@dataclass(frozen=True)
class Panel:
    """One alignment: weights (target words, source words)."""

    letter: str
    source: list[str]
    target: list[str]
    weights: np.ndarray


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--points", required=True, help="CSV of the step samples")
    add_outputs(parser)


def read_panels(path: str) -> list[Panel]:
    """The alignments of a CSV file; UserError where a cell of a matrix is missing or no number."""
    cells: dict[str, dict[tuple[int, int], tuple[str, str, float]]] = {}
    for number, (letter, row, column, target, source, weight) in enumerate(read_csv(path, COLUMNS), 2):
        try:
            cells.setdefault(letter, {})[int(row), int(column)] = (target, source, float(weight))
        except ValueError as error:
            raise UserError(f"{path}: row {number}: {error}; make the file again") from None
    panels = []
    for letter, matrix in cells.items():
        rows, columns = (1 + max(index[axis] for index in matrix) for axis in (0, 1))
        if len(matrix) != rows * columns:
            raise UserError(f"{path}: panel {letter} has {len(matrix)} weights, not {rows * columns}")
        panels.append(
            Panel(
                letter,
                [matrix[0, column][1] for column in range(columns)],
                [matrix[row, 0][0] for row in range(rows)],
                np.array([[matrix[row, column][2] for column in range(columns)] for row in range(rows)]),
            )
        )
    return panels


def draw_panel(axes: Axes, panel: Panel) -> None:
    """One matrix with its words; the letter stands below it."""
    rows, columns = panel.weights.shape
    axes.imshow(panel.weights, cmap="gray", vmin=0, vmax=1, interpolation="nearest", aspect="equal")
    if max(rows, columns) > 2 * min(rows, columns):
        axes.set_aspect("auto")
    size = min(10.0, 240 / max(rows, columns))  # points; a panel is about 4 inches wide
    axes.xaxis.tick_top()  # first, for it brings labels of its own
    axes.set_xticks(range(columns), [unescape(word) for word in panel.source], rotation=90, fontsize=size)
    axes.set_yticks(range(rows), [unescape(word) for word in panel.target], fontsize=size)
    literal([*axes.get_xticklabels(), *axes.get_yticklabels()])
    axes.tick_params(length=0, pad=3)
    axes.set_xlabel(f"({panel.letter})", fontsize=12, labelpad=6)
    axes.xaxis.set_label_position("bottom")


def draw(panels: list[Panel], columns: int = 2) -> Figure:
    """So many panels a row; an empty page with a word of explanation where there is none."""
    rows = max(1, -(-len(panels) // columns))
    figure = Figure(figsize=(5.5 * columns, 5.6 * rows), layout=ConstrainedLayoutEngine(w_pad=0.15, h_pad=0.15))
    if not panels:
        figure.text(0.5, 0.5, "no sentence of 10 to 20 words without unknown words", ha="center", va="center")
        return figure
    grid = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes, panel in zip(grid, panels, strict=False):
        draw_panel(axes, panel)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    return figure


def run(arguments: argparse.Namespace) -> None:
    panels = read_panels(arguments.points)
    if not panels:
        warn(f"{arguments.points}: no alignment in it; Figure 3 is empty")
    with style():
        save(draw(panels), arguments.outputs)
