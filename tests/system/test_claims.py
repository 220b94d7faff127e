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

from nmt.system.claims import CLAIMED, RUN, check_unclaimed, take_over
from nmt.system.errors import UserError

SELECT, FRENCH, ENGLISH = "select:", "shortlist:language=fr", "shortlist:language=en"
JOB = """
import sys
from nmt.system import claims

claims.PATIENCE = 0
claims.claim(sys.argv[1], ["snakemake", "--target-jobs", *sys.argv[2:], "--cores", "all"])
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


def test_a_job_of_an_earlier_run_does_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(RUN, "leave me as I was")
    take_over("mine", [planned("select"), planned("shortlist", language="fr")])
    earlier = os.environ[RUN]
    take_over("mine", [planned("shortlist", language="fr"), planned("shortlist", language="en")])
    with job(tmp_path, "mine", FRENCH, ENGLISH) as later, job(tmp_path, "mine", "shortlist:language=de") as unknown:
        assert [one.communicate() for one in (later, unknown)] == [("began\n", "")] * 2
    monkeypatch.setenv(RUN, earlier)
    with job(tmp_path, "mine", SELECT) as untouched, job(tmp_path, "other", FRENCH) as elsewhere:
        assert [one.communicate() for one in (untouched, elsewhere)] == [("began\n", "")] * 2
    with job(tmp_path, "mine", SELECT, FRENCH) as first:  # its run may live, so this is no success
        said, complained = first.communicate()
    assert (first.returncode, said) == (1, "")
    assert "UserError: a later run makes the files of this job, which does nothing" in complained
    monkeypatch.delenv(RUN)  # a scheduler that does not pass the environment on
    with job(tmp_path, "mine", SELECT, FRENCH) as unaware:
        assert unaware.communicate() == ("began\n", "")


def test_a_run_that_cannot_note_its_steps_has_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(RUN, "another run's")
    (tmp_path / ".snakemake").touch()
    take_over("mine", [planned("select")])
    assert RUN not in os.environ


def test_a_run_without_a_cluster_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with running(tmp_path, "mine", SELECT):
        check_unclaimed("mine", [planned("shortlist", language="fr")])
        with pytest.raises(UserError, match="select: a job of a killed run still does this"):
            check_unclaimed("mine", [planned("shortlist", language="fr"), planned("select")])
    check_unclaimed("mine", [planned("select")])
    with running(tmp_path, "mine", FRENCH), pytest.raises(UserError, match="shortlist: "):
        check_unclaimed("mine", [planned("shortlist", language="fr")])
