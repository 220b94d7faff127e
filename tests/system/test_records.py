"""What a failed job leaves: the next run makes its outputs again, and all that was made from the earlier ones."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from nmt.system.records import IMMEDIATE, METHODS, leave_marks, remember_failures
from tests.waiting import wait_until
from tests.workflow import detached
from tests.workflow.tree import FORKS, in_fork

ROOT = Path(__file__).parents[2]
SNAKEFILE = f"""
import sys

import snakemake.jobs
import snakemake.workflow

sys.path.insert(0, {str(ROOT)!r})
from nmt.system.records import leave_marks, remember_failures

if workflow.is_main_process:
    remember_failures(snakemake.jobs.Job, snakemake.workflow.FilePersistence)
else:
    leave_marks(snakemake.workflow.FilePersistence)


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
        "while test -e wait{{params.setting}}; do touch first.runs; sleep 0.1; done;"
        " cat {{input}} > {{output}}; echo {{params.setting}} >> {{output}}; test ! -e first.fails;"
        " test ! -e first.full || {{{{ mv .snakemake/metadata metadata; touch .snakemake/metadata; false; }}}};"
        " test ! -e first.dies || kill -9 $PPID"


rule last:
    input:
        "first",
    output:
        "last",
    shell:
        "test ! -e last.fails; cp {{input}} {{output}}"
"""
SNAKEMAKE = [sys.executable, "-m", "snakemake"]
OPTIONS = ["--rerun-triggers", "mtime", "params", "input", "--max-checksum-file-size", "1TB"]
OPTIONS += ["--nolock", "--rerun-incomplete"]
Run = Callable[..., bool]


def arguments(setting: int) -> list[str]:
    return [*OPTIONS, "--config", f"setting={setting}"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A function that runs the workflow with a setting and, meanwhile, a file; the result is whether it succeeded."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "text").write_text("old\n")

    def run(setting: int, obstacle: str | None = None) -> bool:
        if obstacle is not None:
            (tmp_path / obstacle).touch()
        words = [*arguments(setting), "--cores", "1"]
        process = FORKS.Process(target=in_fork, args=(words, tmp_path, dict(os.environ), os.devnull))
        process.start()
        process.join()
        if obstacle is not None:
            (tmp_path / obstacle).unlink()
        return process.exitcode == 0

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


@pytest.mark.parametrize("damaged", [b"", b"[]", b"\xff"])
def test_a_damaged_mark_is_a_mark(tmp_path: Path, run: Run, damaged: bytes) -> None:
    """The job runs again."""
    assert not run(2, "first.fails")
    (tmp_path / "first").write_text("by hand\n")
    [mark] = (tmp_path / ".snakemake/incomplete").iterdir()
    mark.write_bytes(damaged)
    assert run(2)
    assert (tmp_path / "last").read_text() == "old\n2\n"


def test_a_file_that_a_failed_job_has_left_is_not_used(tmp_path: Path, run: Run) -> None:
    """Snakemake removes none if it cannot write its records, such as on a full disk."""
    assert not run(2, "first.full")
    assert (tmp_path / "first").exists()
    (tmp_path / ".snakemake/metadata").unlink()
    (tmp_path / "metadata").rename(tmp_path / ".snakemake/metadata")
    (tmp_path / "first").write_text("cut")
    assert run(1)
    assert [(tmp_path / name).read_text() for name in ("first", "last")] == ["old\n1\n"] * 2


@pytest.mark.parametrize("obstacle", ["first.fails", "first.dies"])
def test_a_setting_that_is_set_back_between_failures_is_remembered(tmp_path: Path, run: Run, obstacle: str) -> None:
    assert not run(2, "last.fails")
    assert not run(3, obstacle)
    assert run(2)
    assert (tmp_path / "last").read_text() == "old\n2\n"


def kill_run(folder: Path) -> None:
    """Kill a run with setting 2 on a cluster while `first`, which goes on, is waiting for the end of the file wait2."""
    (folder / "wait2").touch()
    words = [*arguments(2), *detached.options(folder)]
    main = subprocess.Popen([*SNAKEMAKE, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until((folder / "first.runs").exists, "the job runs", 0.1, lambda: main.poll() is None)
    main.kill()
    main.wait()


def end_job(folder: Path) -> None:
    (folder / "wait2").unlink()
    wait_until((folder / "job.code").exists, "the end of the job", 0.1)
    assert (folder / "first").read_text() == "old\n2\n"


def test_a_job_that_outlives_its_run_is_run_again(tmp_path: Path, run: Run) -> None:
    """The job ends well on its node, but its record, which the run writes, is still that of the earlier setting."""
    kill_run(tmp_path)
    end_job(tmp_path)
    assert run(1)
    assert [(tmp_path / name).read_text() for name in ("first", "last")] == ["old\n1\n"] * 2


def test_what_such_a_job_makes_after_a_later_one_has_failed_is_not_used(tmp_path: Path, run: Run) -> None:
    """It would be taken for a file that somebody has put in the place of the later job's."""
    kill_run(tmp_path)
    assert not run(3, "first.fails")
    end_job(tmp_path)
    assert run(3)
    assert [(tmp_path / name).read_text() for name in ("first", "last")] == ["old\n3\n"] * 2


def test_a_job_whose_run_has_ended_by_plan_leaves_no_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(IMMEDIATE, "1")
    persistence = SimpleNamespace(**dict.fromkeys((*METHODS, "_unmark_incomplete"), 1))
    leave_marks(persistence)
    assert persistence._unmark_incomplete == 1


def test_records_in_a_database_are_left_alone(tmp_path: Path) -> None:
    """Their class has other methods; a failed job is just that."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    for name in ("text", "first.fails"):
        (tmp_path / name).touch()
    words = [*SNAKEMAKE, *arguments(1), "--cores", "1", "--persistence-backend", "db"]
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 1
    assert "Error in rule first" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_class_with_other_methods_is_left_alone() -> None:
    job, persistence = SimpleNamespace(postprocess=1), SimpleNamespace(**dict.fromkeys(METHODS[1:], 1))
    before = [dict(vars(job)), dict(vars(persistence))]
    remember_failures(job, persistence)
    assert [vars(job), vars(persistence)] == before
    remember_failures(None, None)
    leave_marks(None)
