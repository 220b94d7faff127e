"""The measurements of a GPU: a dry run of all of them on a CPU, their time limit, and what a failed one leaves."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from bench.gpu import __main__ as gpu
from bench.gpu.__main__ import SECTIONS, Section, main
from bench.gpu.check import distance
from bench.gpu.kernels import KERNELS
from bench.gpu.measurement import Bench, Job
from bench.machine import TYPES

ROOT = Path(__file__).parents[2]
ABSENT = ("sacremoses", "kenlm", "thot", "snakemake")
NEEDED = (
    *("bench.gpu.__main__", "nmt.training.train", "nmt.training.nll", "nmt.search.translate", "nmt.search.score"),
    "nmt.evaluation.evaluate",
)


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python where the libraries that a machine with a GPU may lack cannot be imported."""
    for library in ABSENT:
        (folder / f"{library}.py").write_text(f"raise ImportError('no {library} here')\n")
    environment = {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_what_a_machine_with_a_gpu_runs_needs_few_libraries(tmp_path: Path) -> None:
    done = python(tmp_path, "-c", f"import {', '.join(NEEDED)}")
    assert (done.returncode, done.stderr) == (0, "")
    assert python(tmp_path, "-c", "import nmt.corpora.tokenize").returncode == 1


@pytest.mark.long
def test_a_dry_run_measures_everything(tmp_path: Path) -> None:
    output = tmp_path / "new" / "gpu.json"
    command = ("-m", "bench.gpu", "--device", "cpu", "--dry-run", "--minutes", "30")  # also on a busy machine
    done = python(tmp_path, *command, "--output", str(output))
    assert done.returncode == 0, done.stdout + done.stderr
    written = json.loads(output.read_text())
    assert written["dry_run"] is True
    sections = written["sections"]
    assert list(sections) == list(SECTIONS)
    assert {section["status"] for section in sections.values()} == {"done"}
    assert [line.split(":")[0] for line in done.stdout.split("\n") if ": done, " in line] == list(SECTIONS)
    rows = {title: section["rows"] for title, section in sections.items()}
    exact = [row for row in rows["check"] if row["precision"] == "float64"]
    assert [row["model"] for row in exact] == ["RNNsearch", "RNNencdec"]
    assert all(row["cost"] > 0 and row["cost_apart"] < 1e-12 and row["apart"] < 1e-9 for row in exact)
    assert [row["where"] for row in rows["check"][2:6]] == ["no graphs on a CPU"] * 4
    assert rows["check"][6]["of"] == "cuDNN, loop"
    assert rows["check"][6]["apart"] == 0
    replayed = [(row["of"], row["precision"], row["where"]) for row in rows["check"][7:]]
    assert replayed == [
        (f"replayed search, plain, batch {n}", precision, "no graphs on a CPU") for precision in TYPES for n in (1, 2)
    ]
    kinds = [(row["implementation"], row["precision"], row["optimizer"]) for row in rows["update"][::2]]
    adadelta = [(one, precision, "adadelta") for one in ("ours", "eager") for precision in ("float32", "bf16")]
    assert sorted(kinds) == sorted([*adadelta, ("ours", "bf16", "adam")])
    assert [row["words"] for row in rows["update"]] == ["3+3", "5+4"] * 5
    for row in rows["update"]:
        assert row["words_per_second"] == pytest.approx(4 * int(row["words"][-1]) / row["ms"] * 1e3)
    searched = [(row["implementation"], row["precision"], row["batch"]) for row in rows["beam"]]
    assert searched == [
        (*one, n) for one in (("ours", "float32"), ("ours", "bf16"), ("eager", "float32")) for n in (1, 2)
    ]
    assert all(row["sentences_per_second"] > 0 for row in rows["beam"])
    parts = [f"{part}{plain}" for part in ("step", "words") for plain in ("", ", plain")]
    both = ["LSTM encoder", "LSTM encoder, plain"]
    assert [(row["part"], row["precision"], row["batch"]) for row in rows["step"]] == [
        *((part, precision, n) for precision in TYPES for n in (1, 2) for part in parts),
        *((part, "float32", n) for n in (1, 2) for part in both),
    ]
    assert all(row["ms"] > 0 for row in rows["step"])
    for words in ("3+3", "5+4"):
        whole, *parts = [row for row in rows["profile"] if row["words"] == words]
        assert whole["kernel"] == "all"
        assert len(parts) == KERNELS
        assert whole["ms"] >= sum(row["ms"] for row in parts) > 0
    assert [row["part"] for row in rows["parts"]] == ["forward", "forward and backward", "optimizer"]


def run(monkeypatch: pytest.MonkeyPatch, output: Path, sections: dict[str, Section], *words: str) -> tuple[int, Any]:
    """The exit code and the JSON of a run of these sections."""
    monkeypatch.setattr(gpu, "SECTIONS", sections)
    code = main(["--device", "cpu", "--dry-run", "--output", str(output), *words])
    return code, json.loads(output.read_text())["sections"]


def test_a_failed_measurement_ends_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "gpu.json"

    def fails() -> list[dict[str, Any]]:
        raise RuntimeError("CUDA error: too hot\nCompile with more")

    def later() -> list[dict[str, Any]]:
        left = json.loads(output.read_text())["sections"]["first"]["rows"]  # a run that is killed now leaves this
        return [{"rows": len(left), "cost": math.nan}]

    def first(bench: Bench) -> Iterator[Job]:
        yield Job({"number": 1}, fails)
        yield Job({"number": 2}, later)

    def second(bench: Bench) -> Iterator[Job]:
        yield Job({"number": 3}, later)

    sections = {"first": Section(0, first), "second": Section(0, second)}
    code, written = run(monkeypatch, output, sections)
    assert code == 1
    error, after = written["first"]["rows"]
    assert error["error"] == "RuntimeError: CUDA error: too hot"
    assert "in fails" in error["traceback"]
    assert after == {"number": 2, "rows": 1, "cost": "nan"}
    assert written["second"]["rows"] == [{"number": 3, "rows": 2, "cost": "nan"}]
    assert "\n1: RuntimeError: CUDA error: too hot\n" in capsys.readouterr().out
    assert run(monkeypatch, output, sections, "--only", "second")[1].keys() == {"second"}


def test_what_no_longer_fits_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = SimpleNamespace(monotonic=partial(next, count(0, 100)))  # each look at it takes 100 seconds

    def jobs(bench: Bench) -> Iterator[Job]:
        for number in range(3):
            yield Job({"number": number}, lambda: [{}])

    sections = {"long": Section(500, jobs), "endless": Section(50, jobs), "short": Section(1, jobs)}
    monkeypatch.setattr(gpu, "time", clock)
    code, written = run(monkeypatch, tmp_path / "gpu.json", sections, "--minutes", "8")
    assert code == 0
    assert {title: (section["status"], len(section["rows"])) for title, section in written.items()} == {
        "long": ("skipped: no time", 0),
        "endless": ("stopped: no time", 1),
        "short": ("skipped: no time", 0),
    }
    assert "\nshort: skipped: no time" in capsys.readouterr().out


def test_a_distance_is_relative_and_never_hides_what_is_not_a_number() -> None:
    def of(*numbers: list[float]) -> float:
        return distance(*(torch.tensor(part) for part in numbers))

    assert of([1.0, 4.0], [1.0, 3.0], [-10.0, 5.0]) == pytest.approx(0.1)
    assert of([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]) == 0
    assert of([0.0, 1.0], [0.0, 0.0], [0.0, 0.0]) == math.inf
    assert of([0.0, math.nan], [0.0, 0.0], [1.0, 1.0]) == math.inf
