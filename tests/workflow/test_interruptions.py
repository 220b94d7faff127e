"""The smoke experiment in an empty folder, struck by signals at random moments.

The same command resumes it, and ends with the bytes of the run in the project's folder that nothing struck.
"""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from nmt.settings.ownership import FOLDERS, RECORD
from tests.waiting import PATIENCE, wait_until
from tests.workflow.tree import MARK, SMOKE, Tree, jobs, mark

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
WHOM = ("snakemake", "everyone", "a job")
CLOCKED = ("seconds", "words_per_second", "hours")  # figures of a training that no two runs share
# What shows hours: pages with Table 2, and the learning curves.
SHOWN = ("sheets/table2.html", "smoke/index.html", *(f"learning_curves.{kind}" for kind in ("pdf", "svg", "png")))


@dataclass(frozen=True)
class Blow:
    """A signal, when this share of the jobs is done that the run has to do, and so many seconds have passed."""

    share: float
    seconds: float
    number: signal.Signals
    whom: str


def blows(seed: int, kinds: list[tuple[signal.Signals, str]]) -> list[Blow]:
    """One blow of each kind, in this order, at random moments that leave something to do for the later ones."""
    draw = random.Random(seed)
    shares = [draw.uniform(0, min(0.9, 2 / (left + 1))) for left in range(len(kinds), 0, -1)]
    return [Blow(share, draw.uniform(0, 1.5), *kind) for share, kind in zip(shares, kinds, strict=True)]


class Experiment:
    """One command, given again and again in an empty folder; the project is in another one."""

    def __init__(self, folder: Path) -> None:
        for name in ("a project", "here"):
            (folder / name).mkdir()
        self.project, self.here = Tree(folder / "a project"), Tree.at(folder / "here")
        shutil.copytree(self.project.folder / "data/tools", self.here.folder / "data/tools", symlinks=True)
        mark(self.project)
        self.command = ["-s", str(self.project.folder / "Snakefile")]
        self.configs = [str(self.project.folder / name) for name in SMOKE]
        self.before = self.of_project()
        self.runs = 0

    def of_project(self) -> set[Path]:
        """The files of the project, but for what Python compiles."""
        return {path for path in self.project.folder.rglob("*") if "__pycache__" not in path.parts}

    @property
    def said(self) -> Path:
        """What the last run says."""
        return self.here.folder / f"said{self.runs}.txt"

    def start(self) -> subprocess.Popen[bytes]:
        """Give the command. Its group is its own, for the test's signals to strike nothing else."""
        self.runs += 1  # a file for each run: jobs of the one before may still speak
        words = [*self.command, "--cores", "2", "--resources", "gpu=2", "network=1"]
        return self.here.start(*words, configs=self.configs, said=self.said)

    def strike(self, blow: Blow, draw: random.Random) -> bool:
        """Give the command and strike it; return whether that has ended it. Its jobs may outlive it."""
        with self.start() as process:
            try:
                wait_until(lambda: process.poll() is not None or self.done() >= blow.share, "its share of jobs", 0.02)
                time.sleep(blow.seconds)
                sent = process.poll() is None and send(blow, process.pid, draw)
                process.wait(PATIENCE)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return sent and process.returncode != 0

    def done(self) -> float:
        """Which share of its jobs the running command has done; -1 as long as it has not begun."""
        said = self.said.read_text()
        total = re.search(r"^total +(\d+)", said, re.MULTILINE)
        return said.count("Finished jobid") / int(total[1]) if total else -1

    def finish(self) -> None:
        """Give the command until its end, which must be reached at once and leave nothing to do."""
        with self.start() as process:
            try:
                process.wait(PATIENCE)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        assert process.returncode == 0, self.said.read_text()[-8000:]
        assert jobs(self.here.snakemake("--dry-run", *self.command, configs=self.configs)) == []
        assert self.of_project() == self.before
        log = self.here.folder / "logs/table1/smoke/table1.log"
        assert log.read_text() == f"{MARK}\n"


def send(blow: Blow, snakemake: int, draw: random.Random) -> bool:
    """Send the signal to whom it is for; False where that is over already."""
    if blow.whom == "everyone":
        os.killpg(snakemake, blow.number)
        return True
    if blow.whom == "snakemake":
        os.kill(snakemake, blow.number)
        return True
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            jobs = [one for one in psutil.Process(snakemake).children(recursive=True) if is_job(one, blow.number)]
            if jobs:
                draw.choice(jobs).send_signal(blow.number)
                return True
        except psutil.NoSuchProcess:
            pass
        time.sleep(0.02)
    return False


def is_job(process: psutil.Process, number: signal.Signals) -> bool:
    """Whether it is a step's process, or the shell of one, which heeds no SIGINT that its step has not ended by."""
    try:
        words = process.cmdline()
        return "python -m nmt " in " ".join(words) and (number != signal.SIGINT or words[1:3] == ["-m", "nmt"])
    except psutil.NoSuchProcess:
        return False


def compared(folder: Path) -> Iterator[tuple[str, object]]:
    """Every file of an experiment's text, models and results, less what a clock has measured and where its file is."""
    for path in sorted([*folder.glob("data/smoke/**/*"), *folder.glob("results/smoke/**/*")]):
        name = str(path.relative_to(folder))
        if path.is_dir() or "/report" in name or "/checkpoints/" in name or name.endswith((*SHOWN, RECORD, FOLDERS)):
            continue
        yield name, unclocked(path)


def unclocked(path: Path) -> object:
    """What a file holds: its bytes, or its content without seconds, hours and speeds."""
    if path.name == "summary.json":
        return without(json.loads(path.read_text()))
    if path.name == "metrics.jsonl":
        return [without(json.loads(line)) for line in path.read_text().split("\n")[:-1]]
    if path.name == "provenance.json":
        record = json.loads(path.read_text())
        models = {name: without(one) for name, one in record["models"].items()}
        return record | {"command": None, "seconds": None, "models": models}
    if path.name in ("table2.csv", "learning_curves.csv"):
        with open(path, newline="") as file:
            return [without(row) for row in csv.DictReader(file)]
    if path.name == "table2.md":  # hours are the fourth column of the first table
        rows = [re.split(r"(?<!\\)\|", line) for line in path.read_text().split("\n")]
        return [row[:4] + row[5:] if len(row) == 9 else row for row in rows]
    return path.read_bytes()


def without(figures: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in figures.items() if name not in CLOCKED}


def check(folder: Path, request: pytest.FixtureRequest, planned: list[Blow], seed: int) -> None:
    """Strike an experiment with each blow in turn, then let it finish; compare it with the one that nothing struck.

    That one is asked for last, when another process may have run it.
    """
    experiment, draw = Experiment(folder), random.Random(seed)
    landed = 0
    for blow in planned:
        print(f"{blow.number.name} to {blow.whom} after {blow.share:.0%} and {blow.seconds:.1f} s", flush=True)
        landed += experiment.strike(blow, draw)
    experiment.finish()
    whole, broken = dict(compared(request.getfixturevalue("finished"))), dict(compared(experiment.here.folder))
    assert set(broken) == set(whole)
    assert [name for name in whole if whole[name] != broken[name]] == []
    print(f"{landed} of {len(planned)} landed")
    assert landed > len(planned) / 2


@pytest.mark.long
@pytest.mark.usefixtures("sigint")
def test_struck_by_each_signal_it_ends_with_the_same_bytes(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    kinds = [(signal.SIGKILL, "snakemake"), (signal.SIGTERM, "a job"), (signal.SIGINT, "everyone")]
    check(tmp_path, request, blows(5, kinds), 5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.usefixtures("sigint")
def test_struck_five_times_it_ends_with_the_same_bytes(
    request: pytest.FixtureRequest, tmp_path: Path, seed: int
) -> None:
    """Twenty moments in all, every signal to everyone in turn."""
    kinds = [(number, whom) for number in SIGNALS for whom in WHOM]
    random.Random(20).shuffle(kinds)
    chosen = [kinds[(5 * seed + one) % len(kinds)] for one in range(5)]
    check(tmp_path, request, blows(seed, chosen), seed)
