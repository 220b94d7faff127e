"""Draw Figure 3: how much single dimensions of fine-grained attention attend to each source symbol, in grey scale."""

from __future__ import annotations

import argparse

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nmt.corpora.detokenize import unescape
from nmt.papers.choi2017.mean_weights import COLUMNS
from nmt.report.drawing import add_outputs, literal, printable, save, style
from nmt.system.errors import UserError
from nmt.system.tables import read_csv, real, whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--points", required=True, help="CSV of the step mean_weights")
    add_outputs(parser)


def read_points(path: str) -> tuple[list[str], NDArray[np.floating]]:
    """The source symbols, and the weights (source symbols, dimensions); UserError where one is missing."""
    symbols: dict[int, str] = {}
    weights: dict[tuple[int, int], float] = {}
    for number, (position, symbol, dimension, weight) in enumerate(read_csv(path, COLUMNS), 2):
        try:
            place = whole(position), whole(dimension) - 1
            if place[1] < 0:
                raise ValueError("dimensions are counted from 1")
            if place in weights:
                raise ValueError("this weight is there twice")
            weights[place] = real(weight, 0, 1)
            symbols[place[0]] = symbol
        except ValueError as error:
            raise UserError(f"{path}: row {number}: {error}; make the file again") from None
    if not weights:
        raise UserError(f"{path}: no weights in it; make the file again")
    shape = len(symbols), 1 + max(dimension for _, dimension in weights)
    try:
        found = np.array([[weights[row, column] for column in range(shape[1])] for row in range(shape[0])])
        return [symbols[row] for row in range(shape[0])], found
    except KeyError:
        raise UserError(f"{path}: {len(weights)} weights, not {shape[0]} x {shape[1]}; make the file again") from None


def draw(symbols: list[str], weights: NDArray[np.floating]) -> Figure:
    """Source symbols from top to bottom, dimensions from left to right; 0 is black, the largest weight white."""
    rows, columns = weights.shape
    figure = Figure(figsize=(2 + 0.16 * columns, 1 + 0.2 * rows), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(weights, cmap="gray", vmin=0, interpolation="nearest", aspect="auto")
    axes.set_yticks(range(rows), [printable(unescape(symbol)) for symbol in symbols])
    literal(axes.get_yticklabels())
    ticks = [dimension for dimension in range(1, columns + 1) if dimension == 1 or dimension % 10 == 0]
    axes.set_xticks([dimension - 1 for dimension in ticks], [str(dimension) for dimension in ticks])
    axes.tick_params(length=0)
    axes.set_xlabel("dimension of the annotation")
    figure.colorbar(image, ax=axes, label="mean weight")
    return figure


def run(arguments: argparse.Namespace) -> None:
    with style():
        save(draw(*read_points(arguments.points)), arguments.outputs)
