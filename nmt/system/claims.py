"""Let only one job at a time take a step of an experiment, and none of a killed run once a later run has begun.

If Snakemake is killed, its jobs on a cluster continue, or wait in the queue. The next run, perhaps with other settings,
submits them again. An old job could then replace what the later run has made, or delete it by failing. So a job locks
its steps while it runs, and a later job for one of them waits. A run also notes its number for each of its steps, and a
job of another run that starts after that does nothing.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any
from uuid import uuid4

from nmt.system.errors import UserError, warn
from nmt.system.scheduler import PATIENCE

STEPS = Path(".snakemake/steps")  # a file for each step, with the number of the last run that has it
LOCKS = STEPS / "locks"  # of which each step locks a byte, somewhere beyond its end
RUN = "NMT_RUN_NUMBER"  # tells jobs the number of their run
CLAIMED = "NMT_CLAIMED"  # tells the parts of a job that the job holds its locks
TARGETS = "--target-jobs"


def take_over(experiment: str, jobs: Iterable[Any]) -> None:
    """Note the number of this run, a new one, for the steps of `jobs`, which are Snakemake's.

    Where that is not possible, no job of this run looks at the notes.
    """
    os.environ.pop(RUN, None)
    run = uuid4().hex
    with suppress(OSError):
        STEPS.mkdir(parents=True, exist_ok=True)
        for job in jobs:
            _note(_byte(experiment, _step(job))).write_text(run)
        os.environ[RUN] = run


def check_unclaimed(experiment: str, jobs: Iterable[Any]) -> None:
    """Raise UserError if a job on a cluster takes the step of one of these `jobs` of Snakemake's."""
    with suppress(OSError), os.fdopen(_open(), "wb") as file:  # whose end releases what it holds
        for job in jobs:
            if not _is_free(file.fileno(), _byte(experiment, _step(job))):
                raise UserError(
                    f"{job.rule.name}: a job of a killed run still does this on the cluster; wait until it has ended, "
                    "or cancel it"
                )


def claim(experiment: str, words: Sequence[str]) -> None:
    """Wait until no other job takes a step of this one, and keep others out until this process ends.

    Raises UserError if a later run has taken over a step. `words` are the arguments of the job's Snakemake, which name
    its steps after --target-jobs. Does nothing in a part of a job, and where files cannot be locked.
    """
    if os.environ.get(CLAIMED) or TARGETS not in words:
        return
    os.environ[CLAIMED] = "1"
    steps = takewhile(lambda word: not word.startswith("--"), words[words.index(TARGETS) + 1 :])
    places = sorted(_byte(experiment, step) for step in steps)  # in order, so that no two jobs wait for each other
    if _is_taken_over(places):
        time.sleep(PATIENCE)  # without locks, which nobody should wait for
        _check(places)
    with suppress(OSError):
        file = _open()
        for byte in places:
            if not _is_free(file, byte):
                warn("another job, probably of a killed run, makes the same files; waiting for it to end")
                fcntl.lockf(file, fcntl.LOCK_EX, 1, byte)
    _check(places)


def _check(places: Iterable[int]) -> None:
    if _is_taken_over(places):
        raise UserError("a later run makes the files of this job, which does nothing")


def _is_taken_over(places: Iterable[int]) -> bool:
    """Whether a note of one of these steps has the number of another run."""
    if not (run := os.environ.get(RUN)):
        return False
    noted = set()
    for note in map(_note, places):
        with suppress(OSError):
            noted.add(note.read_text())
    return not noted <= {"", run}


def _step(job: Any) -> str:
    """The step of a job as Snakemake's arguments have it, RULE:WILDCARD=VALUE,... ."""
    return f"{job.rule.name}:{','.join(f'{name}={value}' for name, value in job.wildcards_dict.items())}"


def _byte(experiment: str, step: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{experiment} {step}".encode()).digest()[:7])


def _note(byte: int) -> Path:
    return STEPS / f"{byte:x}"


def _open() -> int:
    STEPS.mkdir(parents=True, exist_ok=True)
    return os.open(LOCKS, os.O_RDWR | os.O_CREAT, 0o666)


def _is_free(file: int, byte: int) -> bool:
    """Whether no other process holds the lock of a byte; this process holds it from now on."""
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
    except (BlockingIOError, PermissionError):
        return False
    return True
