"""The progress that a step prints without a terminal."""

from __future__ import annotations

import pytest

from nmt.system import progress
from nmt.system.progress import Progress


@pytest.mark.parametrize(
    ("seconds", "silent", "said"),
    [
        (1, 0, ["x: 5 lines in 2.0 s"]),
        (1, 3, []),
        (12, 3, ["x: 3 lines of 5 lines", "x: 5 lines of 5 lines", "x: 5 lines in 24.0 s"]),
    ],
)
def test_nothing_is_printed_in_the_first_seconds(
    seconds: int, silent: float, said: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with Progress("x", 5, "lines", silent=silent) as shown:
        for amount in (3, 2):
            now += seconds
            shown.update(amount)
    assert capsys.readouterr().err.split("\n")[:-1] == said


@pytest.mark.parametrize("count", [0, 7, 1000, 2500])
def test_items_are_counted_as_they_pass(count: int, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("x", count, "pairs") as shown:
        assert list(shown.over(iter(range(count)))) == list(range(count))
    assert capsys.readouterr().err.startswith(f"x: {count:,} pairs in ")
