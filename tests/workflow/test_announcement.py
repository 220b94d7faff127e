"""The start of a run, which says how long it takes or why it cannot begin; and locks, which it takes then."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest

from nmt.monitor.forecast import BENCH
from tests.waiting import wait_until
from tests.workflow.tree import ROOT, SMOKE, Tree

TARGET = "data/wmt14/models/RNNsearch-50/model.safetensors"
SAID = r"nmt: this run fetches 8 archives, at least 6\.6 GB, and trains 1 model for about \d+ days in all"


def test_a_long_run_is_announced(tmp_path: Path) -> None:
    """The mirror is empty, so that the run ends with the first archive."""
    for name in ("tree", "mirror"):
        (tmp_path / name).mkdir()
    tree, mirror = Tree(tmp_path / "tree"), tmp_path / "mirror"
    (tree.folder / BENCH).parent.mkdir(parents=True)
    shutil.copy(ROOT / BENCH, tree.folder / BENCH)
    words = ["--cores", "1", "--config", f"mirror={mirror}", "--", TARGET]
    assert "this run fetches" not in tree.snakemake("--dry-run", *words, configs=[]).stdout
    run = tree.snakemake(*words, configs=[])
    assert run.returncode == 1
    assert len(re.findall(SAID, run.stdout)) == 1, run.stdout[-3000:]


def test_without_slurms_commands_one_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs would wait for ever."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "bash", "env", "uname", "dirname", "tee", "which"):
        (programs / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", f"{programs}:{Path(sys.executable).parent}")
    (tmp_path / "tree").mkdir()
    run = Tree(tmp_path / "tree").snakemake("--workflow-profile", "slurm", configs=SMOKE)
    assert run.returncode == 1
    said = "snakemake: slurm: sinfo fails here (No such file or directory); start the workflow where jobs are submitted"
    assert run.stdout.strip().split("\n")[-1] == said


def test_a_record_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """As on a full disk; it is written after Snakemake has planned the run."""
    (tmp_path / "tree/data/smoke/files.json").mkdir(parents=True)
    tree = Tree.at(tmp_path / "tree")
    run = tree.snakemake("-s", str(ROOT / "Snakefile"), "--cores", "1", configs=[str(ROOT / SMOKE[0])])
    assert run.returncode == 1
    assert run.stdout.strip().split("\n")[-1] == "snakemake: data/smoke/files.json: a folder; name a file"


def test_the_locks_of_a_living_run_are_kept(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    tree = Tree(tmp_path / "tree")
    (tree.folder / ".snakemake").mkdir()
    with open(tree.folder / ".snakemake" / "runs.lock", "w") as living:
        fcntl.flock(living, fcntl.LOCK_SH)
        runs = [tree.snakemake(word, configs=SMOKE) for word in ("--unlock", "--unl")]
    for run in runs:
        assert run.returncode == 1
        assert "snakemake: --unlock: another run works here, and needs its locks; wait for it to end" in run.stdout
    assert tree.snakemake("--unlock", configs=SMOKE).returncode == 0


def test_of_two_runs_a_killed_one_leaves_no_locks(tmp_path: Path) -> None:
    """Snakemake would refuse the same run, and advise an option that removes the locks of the living one, too."""
    (tmp_path / "tree").mkdir()
    tree = Tree(tmp_path / "tree")
    words = ["--cores", "1", "data/smoke/mirror/parliament.tgz", "--configfile", *SMOKE]
    (tree.folder / ".snakemake").mkdir()
    with open(tree.folder / ".snakemake/runs.lock", "w") as living:
        fcntl.flock(living, fcntl.LOCK_SH)
        with tree.start(*words, configs=[]) as killed:
            log = tree.folder / "logs/generate/smoke"
            wait_until(log.exists, "its first job", 0.01, lambda: killed.poll() is None)
            os.killpg(killed.pid, signal.SIGKILL)
        assert any((tree.folder / ".snakemake/locks").iterdir())
        run = tree.snakemake(*words, configs=[])
        assert run.returncode == 0, run.stdout


def test_the_end_of_a_run_spares_the_locks_of_others(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    tree = Tree(tmp_path / "tree")
    lock = tree.folder / ".snakemake/locks/7.output.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("data/other/results.txt\n")
    with open(tree.folder / ".snakemake/runs.lock", "w") as living:
        fcntl.flock(living, fcntl.LOCK_SH)
        for said in ("1 of 1 steps (100%) done", "Nothing to be done"):
            run = tree.snakemake("--cores", "1", "data/smoke/mirror/parliament.tgz", "--configfile", *SMOKE, configs=[])
            assert said in run.stdout
            assert list(lock.parent.iterdir()) == [lock]
    run = tree.snakemake("--unlock", configs=SMOKE)
    assert run.returncode == 0, run.stdout
    assert not lock.exists()
