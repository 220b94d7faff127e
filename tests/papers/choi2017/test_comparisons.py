"""Which models are compared with which baselines."""

from __future__ import annotations

import argparse

import pytest

from nmt.papers.choi2017.comparisons import add_compare_argument, baselines
from nmt.system.errors import UserError


def test_each_model_has_one_baseline() -> None:
    parser = argparse.ArgumentParser()
    add_compare_argument(parser, required=False)
    words = ["--compare", "a", "b", "--compare", "c", "b"]
    assert baselines(parser.parse_args(words).compare) == {"a": "b", "c": "b"}
    assert baselines(parser.parse_args([]).compare) == {}


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([("a", "b"), ("a", "c")], "a is compared twice; name one pair for it"),
        ([("a", "b"), ("c", "c")], "c is compared with itself; name another baseline"),
    ],
)
def test_a_model_with_two_baselines_or_itself_is_refused(pairs: list[tuple[str, str]], said: str) -> None:
    with pytest.raises(UserError, match=f"^config: paper.pairs: {said}$"):
        baselines(pairs, "config: paper.pairs")
