"""Draw the learning curves: train and development NLL and, where it is measured, BLEU, by updates and by hours."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean

from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from nmt.monitor.gather_metrics import COLUMNS, DEVELOPMENT_BLEU, DEVELOPMENT_NLL, MEASURES, TRAIN_NLL
from nmt.report.drawing import add_legend, add_outputs, save, style
from nmt.system.files import UserError
from nmt.system.tables import read_csv, real, whole

# Colour and line of each model: two lists of different lengths, so that 28 models look different. The colours, of Okabe
# and Ito, are told apart by readers who are colour-blind.
COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
LINES = ("-", "--", "-.", ":")
TITLES = {
    TRAIN_NLL: "Train NLL (nats a sentence)",
    DEVELOPMENT_NLL: "Dev. NLL (nats a sentence)",
    DEVELOPMENT_BLEU: "Dev. BLEU (greedy)",
}


@dataclass
class Curve:
    """The values of one measure of one model after so many updates and hours."""

    updates: list[int] = field(default_factory=list)
    hours: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


Curves = dict[str, dict[str, Curve]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--points", required=True, help="CSV of the step gather_metrics")
    add_outputs(parser)


def read_curves(path: str) -> Curves:
    """Model -> measure -> its curve; models in the order of the file. Raises UserError."""
    curves: Curves = {}
    for number, (model, measure, updates, hours, value) in enumerate(read_csv(path, COLUMNS), 2):
        try:
            curve = curves.setdefault(model, {one: Curve() for one in MEASURES})[measure]
            curve.updates.append(whole(updates))
            curve.hours.append(real(hours))
            curve.values.append(real(value))
        except (ValueError, KeyError) as error:
            raise UserError(f"{path}: row {number}: {error}; make the file again") from None
    if not curves:
        raise UserError(f"{path}: no points in it; make the file again")
    return curves


def smoothed(values: list[float]) -> list[float]:
    """The mean of each train NLL and the one before.

    Minibatches come in groups of 20 that are sorted by length. A point covers 50 updates, two and a half groups: every
    other point has more short sentences. Two points cover whole groups.
    """
    return [fmean(pair) for pair in pairwise(values[:1] + values)]


def draw(curves: Curves) -> Figure:
    """A row of panels for each measure, a column for updates and one for time; a dot ends each curve.

    The train NLL is smoothed. BLEU has a row where it is measured. Time is in hours, or in minutes where all trainings
    are shorter than an hour.
    """
    short = all(hours < 1 for measures in curves.values() for curve in measures.values() for hours in curve.hours)
    has_bleu = any(measures[DEVELOPMENT_BLEU].values for measures in curves.values())
    shown = [one for one in MEASURES if has_bleu or one != DEVELOPMENT_BLEU]
    figure = Figure(figsize=(7.2, 0.4 + 2.6 * len(shown)), layout="constrained")
    panels = figure.subplots(len(shown), 2, sharex="col", sharey="row")
    for row, measure in zip(panels, shown, strict=True):
        for axes, by in zip(row, ("updates", "hours"), strict=True):
            for index, (model, of_model) in enumerate(curves.items()):
                curve = of_model[measure]
                axes.plot(
                    [60 * hours for hours in curve.hours] if by == "hours" and short else getattr(curve, by),
                    smoothed(curve.values) if measure == TRAIN_NLL else curve.values,
                    color=COLOURS[index % len(COLOURS)],
                    linestyle=LINES[index % len(LINES)],
                    marker="o",
                    markersize=3.5,
                    markevery=[-1],
                    linewidth=1.2,
                    label=model,
                )
            if measure != DEVELOPMENT_BLEU:
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter(LogFormatter())
                axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.5)))
            axes.grid(color="0.9", linewidth=0.6)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel(TITLES[measure])
    panels[-1][0].set_xlabel("Updates")
    panels[-1][0].locator_params(axis="x", nbins=6)  # numbers of five digits need room
    panels[-1][1].set_xlabel(f"{'Minutes' if short else 'Hours'} of training")
    add_legend(figure, panels[0][0], min(3, len(curves)))
    return figure


def run(arguments: argparse.Namespace) -> None:
    curves = read_curves(arguments.points)
    with style():
        save(draw(curves), arguments.outputs)
