"""Draw Figure 2: BLEU of each model by the length of the source sentence, above the number of sentences in each bin."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from matplotlib.figure import Figure

from nmt.evaluation.bleu_by_length import COLUMNS
from nmt.report.drawing import add_legend, add_outputs, save, style
from nmt.system.files import UserError
from nmt.system.tables import read_csv, real, whole

# Line, marker and grey of each model: three lists of different lengths, so that 60 models look different.
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v")
GREYS = ("0.0", "0.3", "0.55")


@dataclass(frozen=True)
class Point:
    """One bin of one model, BLEU in percent or None without sentences."""

    length_from: int
    length_to: int | None
    sentences: int
    bleu: float | None

    @property
    def lengths(self) -> str:
        """The range of lengths, as the axis shows it."""
        return f">{self.length_from}" if self.length_to is None else f"{self.length_from + 1}–{self.length_to}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--points", required=True, help="CSV of the step bleu_by_length")
    add_outputs(parser)


def read_points(path: str) -> dict[str, list[Point]]:
    """Model -> its bins, in the order of the file; UserError unless all models have the same bins."""
    models: dict[str, list[Point]] = {}
    for number, (model, low, high, sentences, bleu) in enumerate(read_csv(path, COLUMNS), 2):
        try:
            point = Point(whole(low), whole(high) if high else None, whole(sentences), real(bleu) if bleu else None)
        except ValueError as error:
            raise UserError(f"{path}: row {number}: {error}; make the file again") from None
        models.setdefault(model, []).append(point)
    if not models:
        raise UserError(f"{path}: no points in it; make the file again")
    bins = [[(point.lengths, point.sentences) for point in points] for points in models.values()]
    if any(other != bins[0] for other in bins):
        raise UserError(f"{path}: the models' bins differ; make the file again")
    return models


def draw(models: dict[str, list[Point]]) -> Figure:
    """BLEU above, numbers of sentences below, on one axis of bins; it ends with the last bin that has sentences."""
    bins = next(iter(models.values()))
    end = max((place for place, point in enumerate(bins, 1) if point.sentences), default=len(bins))
    models, bins = {model: points[:end] for model, points in models.items()}, bins[:end]
    figure = Figure(figsize=(6.4, 5.0), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(5, 1))
    for index, (model, points) in enumerate(models.items()):
        above.plot(
            range(len(points)),
            [float("nan") if point.bleu is None else point.bleu for point in points],
            linestyle=LINES[index % len(LINES)],
            marker=MARKERS[index % len(MARKERS)],
            color=GREYS[index % len(GREYS)],
            markerfacecolor="white" if index % 2 else GREYS[index % len(GREYS)],
            markersize=5.5,
            linewidth=1.6,
            label=model,
            clip_on=False,
            zorder=3,
        )
    highest = max((point.bleu or 0.0 for points in models.values() for point in points), default=0.0)
    above.set_ylim(0, max(1.0, 1.08 * highest))
    above.set_ylabel("BLEU score")
    above.grid(axis="y", color="0.88", linewidth=0.6)
    above.set_axisbelow(True)
    add_legend(figure, above, 2 if len(models) in (2, 4) else min(3, len(models)))

    counts = [point.sentences for point in bins]
    below.bar(range(len(bins)), counts, width=0.7, color="0.8", edgecolor="0.3", linewidth=0.6)
    for position, count in enumerate(counts):
        below.annotate(str(count), (position, count), (0, 2), textcoords="offset points", ha="center", fontsize=8)
    below.set_ylim(0, 1.45 * max(*counts, 1))
    below.set_yticks([])
    below.set_ylabel("sentences", fontsize=9)
    below.set_xticks(range(len(bins)), [point.lengths for point in bins])
    below.set_xlabel("Sentence length (source words)")
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    above.tick_params(axis="x", length=0)
    return figure


def run(arguments: argparse.Namespace) -> None:
    models = read_points(arguments.points)
    with style():
        save(draw(models), arguments.outputs)
