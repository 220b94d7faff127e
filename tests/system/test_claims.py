"""The locks of jobs on a cluster: a second job for the same step waits, whatever became of the run of the first."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from nmt.system.claims import CLAIMED, check_unclaimed
from nmt.system.files import UserError

SELECT, FRENCH, ENGLISH = "select:", "shortlist:language=fr", "shortlist:language=en"
JOB = """
import sys
from nmt.system.claims import claim

claim(sys.argv[1], ["snakemake", "--target-jobs", *sys.argv[2:], "--cores", "all"])
print("began", flush=True)
sys.stdin.read()
"""


@contextmanager
def job(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A job of `folder` for steps of an experiment, which ends with its standard input."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen(
        [sys.executable, "-c", JOB, *words],
        cwd=folder,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        yield process


@contextmanager
def running(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A job that has begun, and ends with the context."""
    with job(folder, *words) as process:
        assert process.stdout
        assert process.stdout.readline() == "began\n"
        yield process
        process.kill()


def planned(rule: str, **wildcards: str) -> SimpleNamespace:
    """What a run knows of a job that it will start."""
    return SimpleNamespace(rule=SimpleNamespace(name=rule), wildcards_dict=wildcards)


def test_a_second_job_for_the_same_step_waits(tmp_path: Path) -> None:
    with running(tmp_path, "mine", SELECT, FRENCH) as first, job(tmp_path, "mine", ENGLISH, FRENCH) as second:
        assert second.stderr
        assert "waiting for it to end" in second.stderr.readline()
        first.kill()
        assert second.communicate() == ("began\n", "")


@pytest.mark.parametrize("words", [["mine", ENGLISH], ["other", SELECT, FRENCH]])
def test_jobs_for_other_steps_do_not_wait(tmp_path: Path, words: list[str]) -> None:
    with running(tmp_path, "mine", SELECT, FRENCH), job(tmp_path, *words) as second:
        assert second.communicate() == ("began\n", "")


def test_a_part_of_a_job_does_not_wait_for_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path, "mine", SELECT):
        monkeypatch.setenv(CLAIMED, "1")
        with job(tmp_path, "mine", SELECT) as part:
            assert part.communicate() == ("began\n", "")


def test_a_run_without_a_cluster_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with running(tmp_path, "mine", SELECT):
        check_unclaimed("mine", [planned("shortlist", language="fr")])
        with pytest.raises(UserError, match="select: a job of a killed run still does this"):
            check_unclaimed("mine", [planned("shortlist", language="fr"), planned("select")])
    check_unclaimed("mine", [planned("select")])
    with running(tmp_path, "mine", FRENCH), pytest.raises(UserError, match="shortlist: "):
        check_unclaimed("mine", [planned("shortlist", language="fr")])
