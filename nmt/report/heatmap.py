"""Heat maps of alignments in grey scale: source words on the x axis, words of the translation on the y axis.

Each pixel is a weight alpha_ij of the j-th source word for the i-th target word, from 0, black, to 1, white; a scale
beside the panels says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from nmt.corpora.detokenize import unescape
from nmt.report.drawing import literal, printable
from nmt.report.panels import Panel

SCALE = 0.6  # inches beside the panels


def _draw_panel(axes: Axes, panel: Panel) -> None:
    """One matrix with its words, the letter below it."""
    rows, columns = panel.weights.shape
    axes.imshow(panel.weights, cmap="gray", vmin=0, vmax=1, interpolation="nearest", aspect="equal")
    if max(rows, columns) > 2 * min(rows, columns):
        axes.set_aspect("auto")
    size = min(10.0, 240 / max(rows, columns))  # points; a panel is about 4 inches wide
    axes.xaxis.tick_top()  # before the labels are set, because it resets them
    axes.set_xticks(range(columns), [printable(unescape(word)) for word in panel.source], rotation=90, fontsize=size)
    axes.set_yticks(range(rows), [printable(unescape(word)) for word in panel.target], fontsize=size)
    literal([*axes.get_xticklabels(), *axes.get_yticklabels()])
    axes.tick_params(length=0, pad=3)
    literal([axes.set_xlabel(f"({panel.letter})", fontsize=12, labelpad=6)])
    axes.xaxis.set_label_position("bottom")


def draw(panels: Sequence[Panel], columns: int = 2, otherwise: str = "") -> Figure:
    """The panels, at most `columns` in a row; the text `otherwise` where there is none."""
    columns = min(columns, max(1, len(panels)))
    rows = max(1, -(-len(panels) // columns))
    width, height = 5.5 * columns + SCALE, 5.6 * rows
    layout = ConstrainedLayoutEngine(w_pad=0.15, h_pad=0.15, rect=(0, 0, 1 - SCALE / width, 1))
    figure = Figure(figsize=(width, height), layout=layout)
    if not panels:
        figure.text(0.5, 0.5, otherwise, ha="center", va="center")
        return figure
    grid = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes, panel in zip(grid, panels, strict=False):
        _draw_panel(axes, panel)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    scale = figure.add_axes((1 - 0.9 * SCALE / width, 0.5 - 1 / height, 0.15 / width, 2 / height))  # 2 inches high
    scale.set_title("weight", fontsize=9)
    figure.colorbar(grid[0].images[0], cax=scale, ticks=(0, 0.5, 1))
    return figure
