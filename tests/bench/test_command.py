"""A command that the benchmarks run."""

from __future__ import annotations

import sys

import pytest

from bench.command import run


def test_the_output_is_returned() -> None:
    assert run([sys.executable, "-c", "print(7)"]) == "7\n"


def test_a_failure_is_one_line() -> None:
    with pytest.raises(SystemExit, match=r"^\S+ -c raise SystemExit\(3\) \.\.\.: exit status 3$"):
        run([sys.executable, "-c", "raise SystemExit(3)"])
