"""Holm's correction, on an example that is worked out by hand."""

from __future__ import annotations

import pytest

from nmt.evaluation.holm import holm


def test_each_p_value_is_multiplied_by_the_number_of_those_not_below_it() -> None:
    """4 x 0.005, 3 x 0.01, 2 x 0.03; 0.04 x 1 would be below the one before."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_no_p_value_is_above_one_and_one_alone_stays() -> None:
    assert holm([0.9, 0.6, 0.7]) == [1.0, 1.0, 1.0]
    assert holm([0.04]) == [0.04]
    assert holm([]) == []
