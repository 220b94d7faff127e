"""Draw the distribution of the scores by which data selection chose pairs of each corpus, and the pairs selected."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.figure import Figure

from nmt.corpora.select import DISTRIBUTION
from nmt.report.drawing import add_outputs, literal, save, style
from nmt.system.errors import UserError
from nmt.system.tables import read_csv, real, whole

ROW_HEIGHT = 0.62  # inches a corpus
TALLEST = 200.0  # inches of all rows; those of many corpora are smaller
FILLED = 0.8  # of a row, by its highest bin


@dataclass(frozen=True)
class Bin:
    """The pairs of one corpus whose score lies between two edges; an outermost bin has only one edge."""

    low: float | None
    high: float | None
    pairs: int
    kept: int
    cut: float | None

    def edges(self, width: float) -> tuple[float, float]:
        """Where the bin is drawn; an open one is as wide as the others."""
        low = self.low if self.low is not None else (self.high or 0) - width
        high = self.high if self.high is not None else low + width
        return low, high


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--points", required=True, help="CSV of the step select: the distribution of the scores")
    add_outputs(parser)


def read_bins(path: str) -> dict[str, list[Bin]]:
    """Corpus -> its bins in rising order; corpora in the order of the file. Raises UserError."""
    corpora: dict[str, list[Bin]] = {}
    for number, (corpus, low, high, pairs, kept, cut) in enumerate(read_csv(path, DISTRIBUTION), 2):
        try:
            ends = (real(low) if low else None, real(high) if high else None)
            one = Bin(*ends, whole(pairs), whole(kept), real(cut) if cut else None)
        except ValueError as error:
            raise UserError(f"{path}: row {number}: {error}; make the file again") from None
        corpora.setdefault(corpus, []).append(one)
    if not corpora:
        raise UserError(f"{path}: no points in it; make the file again")
    for corpus, bins in corpora.items():
        if not any(one.pairs for one in bins):
            raise UserError(f"{path}: {corpus} has no pairs; make the file again")
        for one, other in pairwise(bins):
            if one.high is None or other.low is None or one.high > other.low:
                raise UserError(f"{path}: the scores of {corpus} do not rise from row to row; make the file again")
    return corpora


def draw(corpora: dict[str, list[Bin]]) -> Figure:
    """A row for each corpus on one axis of scores: all clean pairs in light grey, the selected ones in dark grey."""
    ends = [(one.low, one.high) for bins in corpora.values() for one in bins]
    width = min((high - low for low, high in ends if low is not None and high is not None), default=1.0)
    height = min(ROW_HEIGHT, TALLEST / len(corpora))
    size = height / ROW_HEIGHT
    figure = Figure(figsize=(6.4, 0.9 + height * len(corpora)), layout="constrained")
    axes = figure.subplots()
    across = axes.get_yaxis_transform()  # from 0 to 1 within the axes
    floors = [-row for row in range(len(corpora))]
    for floor, bins in zip(floors, corpora.values(), strict=True):
        # one outline instead of a bar for each bin halves the file
        places = [x for one in bins for low, high in [one.edges(width)] for x in (low, low, high, high)]
        scale = FILLED / max(one.pairs for one in bins)
        for counts, shade in (([one.pairs for one in bins], "0.85"), ([one.kept for one in bins], "0.35")):
            tops = [floor + scale * count for count in counts]
            axes.fill(places, [y for top in tops for y in (floor, top, top, floor)], color=shade, linewidth=0)
        if bins[0].cut is not None:
            axes.plot([bins[0].cut] * 2, [floor, floor + FILLED], color="black", linestyle="--", linewidth=size)
        pairs, kept = sum(one.pairs for one in bins), sum(one.kept for one in bins)
        share = f"{kept:,} of {pairs:,}\n{100 * kept / pairs:.1f} %"
        axes.text(1.01, floor + FILLED / 2, share, transform=across, va="center", fontsize=8 * size)
    axes.hlines(floors, 0, 1, transform=across, color="black", linewidth=0.8 * size)
    axes.set_ylim(floors[-1], FILLED)
    axes.set_yticks([floor + FILLED / 2 for floor in floors], [*corpora], fontsize=9 * size)
    literal(axes.get_yticklabels())
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel("Cross-entropy difference of both sides, bits a word (low: like the in-domain text)", fontsize=9)
    return figure


def run(arguments: argparse.Namespace) -> None:
    corpora = read_bins(arguments.points)
    with style():
        save(draw(corpora), arguments.outputs)
