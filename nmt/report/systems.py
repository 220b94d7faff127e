"""One style for each system in all figures: colour, dash and marker by its name.

The colours, of Okabe and Ito (2008), are told apart by readers who are colour-blind, dashes and markers without colour.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
BLACK, BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = COLOURS
Dash = tuple[float, ...]  # lengths of strokes and gaps, in widths of the line; none for a solid line
SOLID: Dash = ()
DASHED: Dash = (5.0, 2.0)
DOTTED: Dash = (1.0, 1.5)
DASH_DOT: Dash = (6.0, 2.0, 1.0, 2.0)
LONG: Dash = (10.0, 3.0)
DASH_DOT_DOT: Dash = (5.0, 1.5, 1.0, 1.5, 1.0, 1.5)
LONG_SHORT: Dash = (9.0, 2.0, 3.0, 2.0)
SHORT: Dash = (2.0, 2.0)
DASHES = (SOLID, DASHED, DOTTED, DASH_DOT, LONG, DASH_DOT_DOT, LONG_SHORT, SHORT)
MARKERS = ("X", "h", "<", "p", ">")  # of systems that are not in NAMED


class Style(NamedTuple):
    """How the line of a system is drawn."""

    colour: str
    dash: Dash
    marker: str

    def options(self) -> dict[str, Any]:
        """The arguments of matplotlib's `plot`."""
        return {"color": self.colour, "linestyle": (0, self.dash) if self.dash else "-", "marker": self.marker}


NAMED = {
    "RNNencdec-30": Style(ORANGE, DOTTED, "v"),
    "RNNsearch-30": Style(SKY, DASH_DOT, "s"),
    "RNNencdec-50": Style(VERMILION, DASHED, "^"),
    "RNNsearch-50": Style(BLUE, SOLID, "o"),
    "RNNsearch-50*": Style(PURPLE, LONG_SHORT, "*"),
    "Phrase-based (Thot)": Style(GREEN, DASH_DOT_DOT, "D"),
    "Moses": Style(BLACK, LONG, "P"),
    "Baseline": Style(BLACK, SOLID, "o"),
    "AttY": Style(BLUE, DASHED, "s"),
    "AttY2D": Style(VERMILION, DASH_DOT, "^"),
    "C": Style(GREEN, DOTTED, "v"),
    "C+AttY": Style(SKY, LONG, "D"),
    "C+AttY2D": Style(ORANGE, DASH_DOT_DOT, "P"),
}
OTHERS = [
    Style(COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)], MARKERS[number % len(MARKERS)])
    for number in range(len(COLOURS) * len(DASHES) * len(MARKERS))
]


def add_systems(parser: argparse.ArgumentParser) -> None:
    """Add the option --systems of a figure with a line for each system."""
    parser.add_argument(
        "--systems",
        nargs="+",
        default=[],
        metavar="LABEL",
        help="all systems of the experiment, so that a line looks the same in all its figures (default: those drawn)",
    )


def styles(systems: Iterable[str]) -> dict[str, Style]:
    """The style of each system: its own if it has one, or else the one that is least like those before."""
    systems = list(systems)
    found = {system: NAMED[system] for system in systems if system in NAMED}
    used = Counter(trait for style in found.values() for trait in _traits(style))
    for system in systems:
        if system not in found:
            found[system] = min(OTHERS, key=lambda style: [used[trait] for trait in _traits(style)])
            used.update(_traits(found[system]))
    return found


def _traits(style: Style) -> list[object]:
    """What should differ from other styles, the most important first."""
    return [(style.dash, style.marker), style.colour, style.dash, style.marker]
