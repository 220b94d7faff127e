"""The styles of systems: the same in every figure, and told apart in grey and by the colour-blind."""

from __future__ import annotations

from itertools import combinations

import pytest
from matplotlib.colors import to_rgb

from nmt.report.systems import NAMED, styles
from nmt.settings.extends import read_experiment
from nmt.settings.sections import SYSTEM_LABELS

FIRST = ["RNNencdec-30", "RNNsearch-30", "RNNencdec-50", "RNNsearch-50", "RNNsearch-50*", *SYSTEM_LABELS.values()]
SECOND = ["Baseline", "AttY", "AttY2D", "C", "C+AttY", "C+AttY2D"]
OWN = ["dot", "RNNsearch-50", "small", "$x$", "large", "Phrase-based (Thot)", "huge"]


def luminance(colour: str) -> float:
    """The relative luminance of WCAG, from 0, black, to 1, white."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_systems_of_both_papers_have_styles_of_their_own() -> None:
    assert {*FIRST, *SECOND} == NAMED.keys()
    for config in ("config/demo.yaml", "config/choi2017/demo-choi.yaml"):
        assert {*read_experiment([config]).systems.values()} <= NAMED.keys()


@pytest.mark.parametrize("systems", [FIRST, SECOND, OWN], ids=["first", "second", "own"])
def test_systems_of_one_figure_are_told_apart_without_colour(systems: list[str]) -> None:
    found = styles(systems)
    for one, other in combinations(found.values(), 2):
        assert one.dash != other.dash
        assert one.marker != other.marker or one.colour != other.colour
        assert one.colour != other.colour
    for style in found.values():
        assert 1.05 / (0.05 + luminance(style.colour)) > 2  # the contrast with white


def test_many_systems_have_dashes_and_markers_of_their_own() -> None:
    found = styles([*SECOND, *(f"model {number}" for number in range(30))])
    assert len({(one.dash, one.marker) for one in found.values()}) == 36
    assert len(styles(f"model {number}" for number in range(1000))) == 1000


def test_a_style_is_that_of_the_name_or_of_the_place_in_the_experiment() -> None:
    found = styles(["one more", *FIRST])
    assert {name: found[name] for name in FIRST} == styles(FIRST)
    assert styles(OWN)["small"] == styles([*OWN, "last"])["small"]
