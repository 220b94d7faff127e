"""Other systems beside ours: their commands, their environment, and what the measurements become."""

from __future__ import annotations

import importlib
import json
import sys
from inspect import signature
from pathlib import Path

import pytest

from bench import peers, train
from bench.contender import Empty
from bench.peers import BATCHES, OURS, PEERS, PINS, WARM_UP, contender
from bench.turns import medians_of

ROOT = Path(__file__).parents[2]
COUNTS = """
import json, sys
print("ready", flush=True)
for number, _ in enumerate(sys.stdin):
    print(json.dumps({"%s": %s + number}), flush=True)
"""


def counting(figure: str, first: float) -> list[str]:
    return [sys.executable, "-c", COUNTS % (figure, first)]


def test_the_warm_up_does_not_count() -> None:
    contenders = [counting("seconds", first) for first in (10, 20)]
    assert medians_of(contenders, rounds=3, warm_up=2) == [{"seconds": 13}, {"seconds": 23}]


@pytest.mark.parametrize(("task", "batch"), BATCHES)
def test_the_peers_run_in_their_own_environment(task: str, batch: int) -> None:
    assert contender(OURS, task, batch, "elsewhere/python")[0] == sys.executable
    for peer in PEERS:
        assert contender(peer, task, batch, "elsewhere/python")[0] == "elsewhere/python"


@pytest.mark.parametrize(("task", "batch"), BATCHES)
@pytest.mark.parametrize("implementation", [OURS, *PEERS])
def test_a_contender_is_asked_for_what_it_can_do(implementation: str, task: str, batch: int) -> None:
    *_, module, job = contender(implementation, task, batch, "elsewhere/python")
    asked = json.loads(job)
    signature(importlib.import_module(module).prepare).bind(**asked)
    assert asked.get("batch", train.BATCH) == batch


@pytest.mark.parametrize(
    ("task", "figure", "figures"),
    [("train", "seconds", [10, 20, 5, 40]), ("decode", "sentences_per_second", [10, 5, 20, 2.5])],
)
def test_twice_the_seconds_or_half_the_rate_is_half_the_speed(
    task: str, figure: str, figures: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    contenders = {
        implementation: counting(figure, last - WARM_UP[task])
        for implementation, last in zip((OURS, *PEERS), figures, strict=True)
    }
    monkeypatch.setattr(peers, "contender", lambda implementation, *job: contenders[implementation])
    table = peers.measure(task, 3, list(contenders), "python", rounds=1)
    assert list(table["implementation"]) == [OURS, *PEERS]
    assert list(table["batch"]) == [3] * len(contenders)
    assert list(table[figure]) == figures
    assert list(table["ratio_to_ours"]) == [1, 0.5, 2, 0.25]
    table = peers.measure(task, 3, ["Marian"], "python", rounds=1)
    assert list(table[figure]) == figures[-1:]
    assert table["ratio_to_ours"].isna().all()


def test_versions_are_the_pinned_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    _, *theirs = peers.versions().values()
    pins = [line for line in PINS.read_text().split("\n") if "==" in line]
    packages = ("joeynmt", "OpenNMT-py", "pymarian")
    assert pins == [f"{package}=={version}" for package, version in zip(packages, theirs, strict=True)]


def test_a_missing_environment_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["bench.peers", "--python", str(tmp_path / "python")])
    with pytest.raises(SystemExit, match="no such interpreter; make bench-peers makes one"):
        peers.main()


def test_any_name_can_be_imported_from_an_empty_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "unrelated", Empty("unrelated"))
    from unrelated import Base

    assert issubclass(type("Derived", (Base,), {}), Base)
