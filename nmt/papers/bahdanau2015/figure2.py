"""Draw Figure 2: BLEU of each model by the length of the source sentence, above the number of sentences in each bin.

A band shows where 95 % of the bootstrap samples lie. Bins of few sentences are hollow.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from nmt.evaluation.bleu_by_length import COLUMNS
from nmt.report.drawing import ROUND, add_legend, add_outputs, save, style
from nmt.report.systems import add_systems, styles
from nmt.system.errors import UserError
from nmt.system.tables import header_of_csv, read_csv, real, whole

WITHOUT_BANDS = COLUMNS[:5]  # the columns of earlier versions
UNITS = ("words", "pieces")
FEW = 30  # fewer sentences than this are too few to say much
MARKER = 6.0  # points


@dataclass(frozen=True)
class Point:
    """One bin of one model, BLEU in percent or None without sentences, and the ends of its band if they are known."""

    length_from: int
    length_to: int | None
    sentences: int
    bleu: float | None
    lower: float | None
    upper: float | None

    @property
    def lengths(self) -> str:
        """The range of lengths, as the axis shows it."""
        return f">{self.length_from}" if self.length_to is None else f"{self.length_from + 1}–{self.length_to}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--points", required=True, help="CSV of the step bleu_by_length")
    parser.add_argument("--unit", choices=UNITS, default=UNITS[0], help="what lengths count (default: %(default)s)")
    add_systems(parser)
    add_outputs(parser)


def read_points(path: str) -> dict[str, list[Point]]:
    """Model -> its bins, in the order of the file.

    Raises UserError unless all models have the same bins, and each bin begins where the one before ends.
    """
    models: dict[str, list[Point]] = {}
    columns = WITHOUT_BANDS if header_of_csv(path) == WITHOUT_BANDS else COLUMNS
    for number, (model, low, high, sentences, *scores) in enumerate(read_csv(path, columns), 2):
        try:
            bleu, lower, upper = [*(real(score, 0, 100) if score else None for score in scores), None, None][:3]
            point = Point(whole(low), whole(high) if high else None, whole(sentences), bleu, lower, upper)
        except ValueError as error:
            raise UserError(f"{path}: row {number}: {error}; make the file again") from None
        models.setdefault(model, []).append(point)
    if not models:
        raise UserError(f"{path}: no points in it; make the file again")
    for model, points in models.items():
        if any(one.length_to != other.length_from for one, other in pairwise(points)):
            raise UserError(f"{path}: the bins of {model} do not follow one another; make the file again")
    bins = [[(point.lengths, point.sentences) for point in points] for points in models.values()]
    if any(other != bins[0] for other in bins):
        raise UserError(f"{path}: the models' bins differ; make the file again")
    return models


def draw(models: dict[str, list[Point]], systems: Sequence[str] = (), unit: str = UNITS[0]) -> Figure:
    """BLEU above, numbers of sentences below, on one axis of bins; it ends with the last bin that has sentences.

    `systems` are all systems of the experiment; those without a style of their own get one by their place. `unit` is
    what lengths count.
    """
    bins = next(iter(models.values()))
    end = max((place for place, point in enumerate(bins, 1) if point.sentences), default=len(bins))
    models, bins = {model: points[:end] for model, points in models.items()}, bins[:end]
    style_of = styles(dict.fromkeys([*systems, *models]))
    figure = Figure(figsize=(6.4, 5.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(5, 1))
    few = [place for place, point in enumerate(bins) if 0 < point.sentences < FEW]
    for model, points in models.items():
        line, colour = style_of[model].options(), style_of[model].colour
        bleu = [_drawn(point.bleu) for point in points]
        above.plot(bleu, **line, markersize=MARKER, linewidth=1.6, label=model, clip_on=False, zorder=3)
        hollow = {"facecolor": "white", "edgecolor": colour, "marker": style_of[model].marker, "s": MARKER**2}
        above.scatter(few, [bleu[place] for place in few], **hollow, clip_on=False, zorder=4)
        ends = [[_drawn(end) for end in ends] for ends in zip(*((one.lower, one.upper) for one in points), strict=True)]
        above.fill_between(range(len(points)), *ends, color=colour, alpha=0.15, linewidth=0)
    shown = [value for points in models.values() for one in points for value in (one.bleu, one.upper) if value]
    above.set_ylim(0, max(1.0, 1.05 * max(shown, default=0.0)))
    above.yaxis.set_major_locator(MaxNLocator(steps=ROUND))
    above.set_ylabel("BLEU score")
    above.grid(axis="y", color="0.88", linewidth=0.6)
    above.set_axisbelow(True)
    add_legend(figure, above, 2 if len(models) in (2, 4) else min(3, len(models)))

    counts = [point.sentences for point in bins]
    shades = ["white" if place in few else "0.8" for place in range(len(bins))]
    below.bar(range(len(bins)), counts, width=0.7, color=shades, edgecolor="0.3", linewidth=0.6)
    for position, count in enumerate(counts):
        below.annotate(str(count), (position, count), (0, 2), textcoords="offset points", ha="center", fontsize=8)
    below.set_ylim(0, 1.45 * max(*counts, 1))
    below.set_yticks([])
    below.set_ylabel("sentences", fontsize=9)
    below.set_xticks(range(len(bins)), [point.lengths for point in bins])
    below.set_xlabel(f"Sentence length (source {unit})")
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    above.tick_params(axis="x", length=0)
    has_bands = any(one.lower is not None for points in models.values() for one in points)
    notes = ["bands: 95 % of bootstrap samples"] * has_bands + [f"hollow: fewer than {FEW} sentences"] * bool(few)
    figure.supxlabel("; ".join(notes), fontsize=8)
    return figure


def _drawn(value: float | None) -> float:
    """`value`, or what leaves a gap where there is none."""
    return math.nan if value is None else value


def run(arguments: argparse.Namespace) -> None:
    models = read_points(arguments.points)
    with style():
        save(draw(models, arguments.systems, arguments.unit), arguments.outputs)
