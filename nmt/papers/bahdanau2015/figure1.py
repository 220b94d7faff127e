"""Draw Figure 1: the model as it generates the t-th target word from a source sentence x_1 ... x_T.

At the bottom the bidirectional encoder (Section 3.2), above it the weighted sum of its annotations (Eq. (5)) and the
decoder (Eq. (4)).
"""

from __future__ import annotations

import argparse
import math
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle

from nmt.report.drawing import add_outputs, save, style

Place = tuple[float, float]

# Columns of the source words, with an ellipsis before x_T, and heights of the rows.
COLUMNS = {"1": 0.0, "2": 1.75, "3": 3.5, "T": 6.3}
ELLIPSIS = 4.9
WORDS, BACKWARD, FORWARD, SUM, STATES, OUTPUTS = 0.0, 1.2, 2.1, 4.4, 5.9, 7.3
CENTRE = 3.95  # the weighted sum, below s_t
PREVIOUS = 1.75  # s_{t-1}
HALF = 0.45  # half the side of a square that stands for a state
WORD_GAP = 0.3  # from the middle of a word to the end of its arrow
SUM_RADIUS = 0.28
LINE = 1.1  # points


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_outputs(parser)


def node(axes: Axes, place: Place, label: str, shade: str) -> None:
    """A square with a symbol: a state of the network."""
    corner = (place[0] - HALF, place[1] - HALF)
    square = Rectangle(corner, 2 * HALF, 2 * HALF, facecolor=shade, edgecolor="black", linewidth=LINE, zorder=3)
    axes.add_patch(square)
    axes.text(*place, label, ha="center", va="center", fontsize=15, zorder=4)


def arrow(axes: Axes, start: Place, end: Place, gaps: tuple[float, float] = (0, 0)) -> None:
    """A straight arrow that stays `gaps`, in units of the drawing, away from its two ends."""
    length = math.dist(start, end)
    step = ((end[0] - start[0]) / length, (end[1] - start[1]) / length)
    axes.add_patch(
        FancyArrowPatch(
            (start[0] + gaps[0] * step[0], start[1] + gaps[0] * step[1]),
            (end[0] - gaps[1] * step[0], end[1] - gaps[1] * step[1]),
            arrowstyle="-|>,head_length=5,head_width=2.2",
            linewidth=LINE,
            color="black",
            shrinkA=0,
            shrinkB=0,
            zorder=2,
        )
    )


def dots(axes: Axes, place: Place) -> None:
    """An ellipsis."""
    axes.text(*place, r"$\cdots$", ha="center", va="center", fontsize=17)


def draw_encoder(axes: Axes) -> None:
    """The words and, above each, the backward and forward states that make up its annotation h_j."""
    for name, x in COLUMNS.items():
        node(axes, (x, FORWARD), rf"$\overrightarrow{{h}}_{{{name}}}$", "white")
        node(axes, (x, BACKWARD), rf"$\overleftarrow{{h}}_{{{name}}}$", "white")
        axes.text(x, WORDS, rf"$x_{{{name}}}$", ha="center", va="center", fontsize=17)
        arrow(axes, (x, WORDS + WORD_GAP), (x, BACKWARD - HALF))
    places = [*list(COLUMNS.values())[:-1], ELLIPSIS, COLUMNS["T"]]
    for left, right in pairwise(places):
        for start, end, height in ((left, right, FORWARD), (right, left, BACKWARD)):
            near, far = (0.35 if x == ELLIPSIS else HALF for x in (start, end))
            arrow(axes, (start, height), (end, height), gaps=(near, far))
    for height in (WORDS, BACKWARD, FORWARD):
        dots(axes, (ELLIPSIS, height))


def draw_attention(axes: Axes) -> None:
    """The weights alpha_tj of the annotations and their sum."""
    top = FORWARD + HALF
    label = 0.38  # of the way from the annotation to the sum
    for name, x in COLUMNS.items():
        arrow(axes, (x, top), (CENTRE, SUM), gaps=(0.0, SUM_RADIUS))
        axes.text(
            x + label * (CENTRE - x),
            top + label * (SUM - top),
            rf"$\alpha_{{t,{name}}}$",
            ha="center",
            va="center",
            fontsize=15,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
            zorder=3,
        )
    circle = Circle((CENTRE, SUM), SUM_RADIUS, facecolor="white", edgecolor="black", linewidth=LINE, zorder=3)
    axes.add_patch(circle)
    arm = 0.6 * SUM_RADIUS
    axes.plot([CENTRE - arm, CENTRE + arm], [SUM, SUM], color="black", linewidth=LINE, zorder=4)
    axes.plot([CENTRE, CENTRE], [SUM - arm, SUM + arm], color="black", linewidth=LINE, zorder=4)


def draw_decoder(axes: Axes) -> None:
    """The states s_{t-1} and s_t, and the words that they generate."""
    arrow(axes, (CENTRE, SUM + SUM_RADIUS), (CENTRE, STATES - HALF))
    axes.text(CENTRE + 0.15, (SUM + SUM_RADIUS + STATES - HALF) / 2, r"$c_t$", ha="left", va="center", fontsize=15)
    for x, name in ((PREVIOUS, "t-1"), (CENTRE, "t")):
        node(axes, (x, STATES), rf"$s_{{{name}}}$", "0.9")
        axes.text(x, OUTPUTS, rf"$y_{{{name}}}$", ha="center", va="center", fontsize=17)
        arrow(axes, (x, STATES + HALF), (x, OUTPUTS - WORD_GAP))
    arrow(axes, (PREVIOUS + 0.42, OUTPUTS - 0.2), (CENTRE - HALF, STATES + 0.6 * HALF))
    for left, right in pairwise((PREVIOUS - 1.75, PREVIOUS, CENTRE, CENTRE + 1.75)):
        near, far = (HALF if x in (PREVIOUS, CENTRE) else 0.35 for x in (left, right))
        arrow(axes, (left, STATES), (right, STATES), gaps=(near, far))
        if right > CENTRE:
            dots(axes, (right, STATES))
        elif left < PREVIOUS:
            dots(axes, (left, STATES))


def draw() -> Figure:
    """The whole diagram."""
    width, height = (-0.65, 6.95), (-0.4, 7.7)
    scale = 0.68  # inches for a unit
    figure = Figure(figsize=(scale * (width[1] - width[0]), scale * (height[1] - height[0])))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(*width)
    axes.set_ylim(*height)
    axes.set_axis_off()
    draw_encoder(axes)
    draw_attention(axes)
    draw_decoder(axes)
    return figure


def run(arguments: argparse.Namespace) -> None:
    with style():
        save(draw(), arguments.outputs)
