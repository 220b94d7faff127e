"""What a failed job leaves: the next run makes its outputs again, and all that was made from the earlier ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from nmt.system.records import METHODS, leave_marks, remember_failures

ROOT = Path(__file__).parents[2]
SNAKEFILE = f"""
import sys

import snakemake.jobs
import snakemake.workflow

sys.path.insert(0, {str(ROOT)!r})
from nmt.system.records import remember_failures

remember_failures(snakemake.jobs.Job, snakemake.workflow.FilePersistence)


rule all:
    input:
        "last",


rule first:
    input:
        "text",
    output:
        "first",
    params:
        setting=config["setting"],
    shell:
        "cat {{input}} > {{output}}; echo {{params.setting}} >> {{output}}; test ! -e first.fails;"
        " test ! -e first.dies || kill -9 $PPID"


rule last:
    input:
        "first",
    output:
        "last",
    shell:
        "test ! -e last.fails; cp {{input}} {{output}}"
"""
Run = Callable[..., bool]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A function that runs the workflow with a setting and, meanwhile, a file; the result is whether it succeeded."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "text").write_text("old\n")
    options = ["--cores", "1", "--rerun-triggers", "mtime", "params", "input", "--max-checksum-file-size", "1TB"]

    def run(setting: int, obstacle: str | None = None) -> bool:
        words = [sys.executable, "-m", "snakemake", *options, "--nolock", "--rerun-incomplete"]
        if obstacle is not None:
            (tmp_path / obstacle).touch()
        ended = subprocess.run([*words, "--config", f"setting={setting}"], cwd=tmp_path, capture_output=True)
        if obstacle is not None:
            (tmp_path / obstacle).unlink()
        return ended.returncode == 0

    assert run(1)
    assert (tmp_path / "last").read_text() == "old\n1\n"
    return run


@pytest.mark.parametrize("obstacle", ["first.fails", "first.dies"])
def test_a_changed_setting_is_remembered(tmp_path: Path, run: Run, obstacle: str) -> None:
    assert not run(2, obstacle)
    assert run(2)
    assert (tmp_path / "last").read_text() == "old\n2\n"


def test_a_changed_text_is_remembered(tmp_path: Path, run: Run) -> None:
    (tmp_path / "text").write_text("new\n")
    for _ in range(2):
        assert not run(1, "first.fails")
    assert run(1)
    assert (tmp_path / "last").read_text() == "new\n1\n"


def test_a_file_that_is_put_in_place_of_a_failed_jobs_is_used(tmp_path: Path, run: Run) -> None:
    assert not run(2, "first.fails")
    (tmp_path / "first").write_text("by hand\n")
    assert run(2)
    assert [(tmp_path / name).read_text() for name in ("first", "last")] == ["by hand\n"] * 2


@pytest.mark.parametrize("obstacle", ["first.fails", "first.dies"])
def test_a_setting_that_is_set_back_between_failures_is_remembered(tmp_path: Path, run: Run, obstacle: str) -> None:
    assert not run(2, "last.fails")
    assert not run(3, obstacle)
    assert run(2)
    assert (tmp_path / "last").read_text() == "old\n2\n"


def test_a_job_on_a_cluster_leaves_its_mark() -> None:
    """The run removes it; if the run is dead, the next one must know."""
    marks = {"first"}
    persistence = type("Persistence", (), {"_unmark_incomplete": lambda run, key: marks.discard(key)})
    leave_marks(persistence)
    persistence()._unmark_incomplete("first")
    assert marks == {"first"}
    leave_marks(None)


def test_a_class_with_other_methods_is_left_alone() -> None:
    job, persistence = SimpleNamespace(postprocess=1), SimpleNamespace(**dict.fromkeys(METHODS[1:], 1))
    before = [dict(vars(job)), dict(vars(persistence))]
    remember_failures(job, persistence)
    assert [vars(job), vars(persistence)] == before
    remember_failures(None, None)
