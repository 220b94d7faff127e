"""Draw the learning curves: train and development NLL and, where it is measured, BLEU, by updates and by hours.

A dotted line and a word mark where a model that continues another begins. For a model with several seeds, the line is
their mean, and a band covers all of them. Seeds are compared after the same number of their own updates, because the
models that they continue may have stopped at different ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter, MaxNLocator

from nmt.monitor.gather_metrics import COLUMNS, DEVELOPMENT_BLEU, DEVELOPMENT_NLL, MEASURES, TRAIN_NLL
from nmt.report.drawing import ROUND, add_legend, add_outputs, literal, save, style
from nmt.report.systems import add_systems, styles
from nmt.system.errors import UserError
from nmt.system.tables import header_of_csv, read_csv, real, whole

WITHOUT_SEEDS = COLUMNS[:5]  # the columns of earlier versions
TITLES = {
    TRAIN_NLL: "Train NLL\n(nats a sentence, log scale)",
    DEVELOPMENT_NLL: "Dev. NLL\n(nats a sentence, log scale)",
    DEVELOPMENT_BLEU: "Dev. BLEU (greedy)",
}


@dataclass
class Curve:
    """The values of one measure of one training run, with the updates and hours at each.

    It starts after `start` updates, those of the model that it continues. The `seed` is None where it is not known.
    The mean curve of several seeds also has their `lower` and `upper` values.
    """

    seed: int | None = None
    start: int = 0
    updates: list[int] = field(default_factory=list)
    hours: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)


Curves = dict[str, dict[str, list[Curve]]]  # model -> measure -> a curve for each seed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--points", required=True, help="CSV of the step gather_metrics")
    parser.add_argument(
        "--continues",
        nargs=2,
        action="append",
        default=[],
        metavar=("LABEL", "BEFORE"),
        help="a model, and the one that it continues; once for each such model (default: none)",
    )
    add_systems(parser)
    add_outputs(parser)


def read_curves(path: str) -> Curves:
    """Model -> measure -> its curves; models in the order of the file. Raises UserError.

    Curves of one model are in the order of the file. In a file without seeds, the next one begins where updates do not
    increase.
    """
    curves: Curves = {}
    columns = WITHOUT_SEEDS if header_of_csv(path) == WITHOUT_SEEDS else COLUMNS
    for number, (model, measure, updates, hours, value, *more) in enumerate(read_csv(path, columns), 2):
        try:
            of_seeds = curves.setdefault(model, {one: [] for one in MEASURES})[measure]
            seed, start = map(whole, more) if more else (None, 0)
            curve = next((one for one in reversed(of_seeds) if one.seed == seed), None)
            rises = curve is not None and whole(updates) > curve.updates[-1]
            if curve is None or (seed is None and not rises):
                curve = Curve(seed, start)
                of_seeds.append(curve)
            elif not rises:
                raise ValueError(f"{measure} of {model} is not in the order of updates")
            curve.updates.append(whole(updates))
            curve.hours.append(real(hours, 0))
            curve.values.append(real(value, 0))
        except (ValueError, KeyError) as error:
            raise UserError(f"{path}: row {number}: {error}; make the file again") from None
    if not curves:
        raise UserError(f"{path}: no points in it; make the file again")
    return curves


def smoothed(values: Sequence[float], before: Sequence[float]) -> list[float]:
    """The mean of each train NLL and the one before; the last of `before` is that of the model that is continued.

    Minibatches come in groups of 20 that are sorted by length. A point covers 50 updates, two and a half groups: every
    other point has more short sentences. Two points cover whole groups.
    """
    return [fmean(pair) for pair in pairwise([*(before[-1:] or values[:1]), *values])]


def continued(curves: Sequence[Curve], earlier: Sequence[Curve]) -> list[Curve | None]:
    """The one of `earlier` that each of `curves` continues.

    It is the one with the same seed. If seeds differ and both models have equally many, it is that in the same place.
    """
    of_seed: dict[int | None, Curve] = {one.seed: one for one in earlier if one.seed is not None}
    found = [of_seed.get(one.seed) for one in curves]
    return [*earlier] if None in found and len(curves) == len(earlier) else found


def until(curve: Curve | None, start: int) -> list[float]:
    """The values of `curve` up to `start`, where another model continues; all where the start is unknown."""
    if curve is None:
        return []
    return [value for updates, value in zip(curve.updates, curve.values, strict=True) if updates <= start or not start]


def over_seeds(curves: Sequence[Curve]) -> Curve:
    """The mean of several curves at the points of the one with the lowest seed, as long as all of them last.

    Updates count since their starts. Between its points, a curve is a straight line.
    """
    if not curves:
        return Curve()
    curves = sorted(curves, key=lambda one: one.seed or 0)
    own = [[updates - one.start for updates in one.updates] for one in curves]
    first, last = max(updates[0] for updates in own), min(updates[-1] for updates in own)
    common = [updates for updates in own[0] if first <= updates <= last]
    start = round(fmean(one.start for one in curves))
    hours = [np.interp(common, updates, one.hours).tolist() for updates, one in zip(own, curves, strict=True)]
    values = [np.interp(common, updates, one.values).tolist() for updates, one in zip(own, curves, strict=True)]
    at = list(zip(*values, strict=True))
    means = [*map(fmean, zip(*hours, strict=True))], [*map(fmean, at)]
    return Curve(None, start, [start + updates for updates in common], *means, [*map(min, at)], [*map(max, at)])


def mean_curves(curves: Curves, before: Mapping[str, str]) -> dict[str, dict[str, Curve]]:
    """The mean curve of each measure of each model; the train NLL is smoothed."""
    found: dict[str, dict[str, Curve]] = {}
    for model, measures in curves.items():
        earlier = curves[before[model]][TRAIN_NLL] if model in before else []
        own = measures[TRAIN_NLL]
        smooth = [
            replace(one, values=smoothed(one.values, until(base, one.start)))
            for one, base in zip(own, continued(own, earlier), strict=True)
        ]
        found[model] = {measure: over_seeds(ones) for measure, ones in (measures | {TRAIN_NLL: smooth}).items()}
    return found


def draw(curves: Curves, continues: Mapping[str, str] | None = None, systems: Sequence[str] = ()) -> Figure:
    """A row of panels for each measure, a column for updates and one for time; a marker ends each curve.

    The train NLL is smoothed. BLEU has a row where it is measured. Time is in hours, or in minutes where all trainings
    are shorter than an hour. `continues` names the model that another one continues; `systems` are all systems of the
    experiment; those without a style of their own get one by their place.
    """
    before = {model: other for model, other in (continues or {}).items() if {model, other} <= curves.keys()}
    drawn = mean_curves(curves, before)
    short = all(hours < 1 for measures in drawn.values() for curve in measures.values() for hours in curve.hours)
    has_bleu = any(measures[DEVELOPMENT_BLEU] for measures in curves.values())
    shown = [one for one in MEASURES if has_bleu or one != DEVELOPMENT_BLEU]
    style_of = styles(dict.fromkeys([*systems, *curves]))
    figure = Figure(figsize=(7.2, 0.4 + 2.6 * len(shown)), layout="constrained")
    panels = figure.subplots(len(shown), 2, sharex="col", sharey="row")
    for row, measure in zip(panels, shown, strict=True):
        for axes, by in zip(row, ("updates", "hours"), strict=True):
            for model, of_model in drawn.items():
                curve = of_model[measure]
                place = places(curve, by, short)
                if len(curves[model][measure]) > 1:
                    colour = style_of[model].colour
                    axes.fill_between(place, curve.lower, curve.upper, color=colour, alpha=0.15, linewidth=0)
                axes.plot(
                    place,
                    curve.values,
                    **style_of[model].options(),
                    markersize=5,
                    markevery=[-1],
                    linewidth=1.2,
                    label=model,
                )
            if measure != DEVELOPMENT_BLEU:
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter(LogFormatter())
                axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.5)))
            else:
                axes.yaxis.set_major_locator(MaxNLocator(steps=ROUND))
            for model, other in before.items():
                first, then = drawn[other][TRAIN_NLL], drawn[model][TRAIN_NLL]
                if first.updates and then.updates:
                    begin = places(beginning(then, first), by, short)[0]
                    mark(axes, begin, f"continues {other}" if measure == TRAIN_NLL else "")
            axes.grid(color="0.9", linewidth=0.6)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel(TITLES[measure])
    panels[-1][0].set_xlabel("Updates")
    for axes in panels[-1]:
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=ROUND))  # numbers of five digits need room
    panels[-1][1].set_xlabel(f"{'Minutes' if short else 'Hours'} of training")
    add_legend(figure, panels[0][0], min(3, len(curves)))
    return figure


def beginning(curve: Curve, before: Curve) -> Curve:
    """The point at which a model begins that continues another; `before` is the curve of that one.

    In a file without starts, it is the end of `before`.
    """
    start = curve.start or min(before.updates[-1], curve.updates[0])
    return Curve(updates=[start], hours=[float(np.interp(start, before.updates, before.hours))])


def places(curve: Curve, by: str, short: bool) -> Sequence[float]:
    """Where the points of `curve` are drawn: at updates, or at hours, in minutes where these are `short`."""
    if by == "updates":
        return curve.updates
    return [60 * hours for hours in curve.hours] if short else curve.hours


def mark(axes: Axes, begin: float, word: str) -> None:
    """A dotted line at `begin` with a `word` beside it; the legend leaves it out."""
    axes.axvline(begin, color="0.5", linestyle=":", linewidth=1, zorder=0).set_label("")
    top, beside = (begin, 0.98), (3, 0)
    place: dict[str, Any] = {
        "xycoords": axes.get_xaxis_transform(),
        "textcoords": "offset points",
        "rotation": 90,
        "va": "top",
    }
    literal([axes.annotate(word, top, beside, **place, color="0.3", fontsize=7, zorder=1)])


def run(arguments: argparse.Namespace) -> None:
    curves = read_curves(arguments.points)
    with style():
        save(draw(curves, dict(arguments.continues), arguments.systems), arguments.outputs)
