"""Other systems beside ours: their commands, their environment, and what the measurements become."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench import peers
from bench.contender import Empty
from bench.peers import BATCH, PEERS, PINS, WARM_UP, commands
from bench.turns import medians_of

ROOT = Path(__file__).parents[2]
COUNTS = """
import json, sys
print("ready", flush=True)
for number, _ in enumerate(sys.stdin):
    print(json.dumps({"%s": %s + number}), flush=True)
"""


def counting(figure: str, first: int) -> list[str]:
    return [sys.executable, "-c", COUNTS % (figure, first)]


def test_the_warm_up_does_not_count() -> None:
    contenders = [counting("seconds", first) for first in (10, 20)]
    assert medians_of(contenders, rounds=3, warm_up=2) == [{"seconds": 13}, {"seconds": 23}]


def test_the_peers_run_in_their_own_environment() -> None:
    for task in BATCH:
        ours, *theirs = commands(task, "elsewhere/python")
        assert ours[0] == sys.executable
        assert [words[0] for words in theirs] == ["elsewhere/python"] * len(PEERS)


@pytest.mark.parametrize(
    ("task", "figure", "figures"), [("train", "seconds", [10, 20, 5]), ("decode", "sentences_per_second", [10, 5, 20])]
)
def test_twice_the_seconds_or_half_the_rate_is_half_the_speed(
    task: str, figure: str, figures: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    contenders = [counting(figure, last - WARM_UP[task]) for last in figures]
    monkeypatch.setattr(peers, "commands", lambda task, python: contenders)
    table = peers.measure(task, "python", rounds=1)
    assert list(table[figure]) == figures
    assert list(table["ratio_to_ours"]) == [1, 0.5, 2]


def test_versions_are_the_pinned_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    _, *theirs = peers.versions()
    pins = [line for line in PINS.read_text().split("\n") if "==" in line]
    assert pins == [f"{package}=={version}" for package, version in zip(("joeynmt", "OpenNMT-py"), theirs, strict=True)]


def test_a_missing_environment_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["bench.peers", "--python", str(tmp_path / "python")])
    with pytest.raises(SystemExit, match="no such interpreter; make bench-peers makes one"):
        peers.main()


def test_any_name_can_be_imported_from_an_empty_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "unrelated", Empty("unrelated"))
    from unrelated import Base

    assert issubclass(type("Derived", (Base,), {}), Base)
