"""Keep two jobs on a cluster from making the same outputs at the same time.

If Snakemake is killed, its jobs on a cluster continue, and the next run, perhaps with other settings, submits them
again. Whichever ended last would leave its outputs, or delete those of the other if it failed. So each job holds locks
while it runs, one for each step that it takes, and a later job for the same step waits.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

from nmt.system.files import UserError, warn

LOCKS = Path(".snakemake/jobs.lock")  # a byte for each step, as offsets beyond the end of a file can be locked
CLAIMED = "NMT_CLAIMED"  # tells the parts of a job that the job holds its locks
TARGETS = "--target-jobs"


def claim(experiment: str, words: Sequence[str]) -> None:
    """Wait until no other job takes a step of this one, and keep others out until this process ends.

    `words` are the arguments of the job's Snakemake, which name its steps after --target-jobs, each as
    RULE:WILDCARD=VALUE,... . Does nothing in a part of a job, and where files cannot be locked.
    """
    if os.environ.get(CLAIMED) or TARGETS not in words:
        return
    os.environ[CLAIMED] = "1"
    steps = takewhile(lambda word: not word.startswith("--"), words[words.index(TARGETS) + 1 :])
    with suppress(OSError):
        file = _open()
        for byte in sorted(_byte(experiment, step) for step in steps):  # so that no two wait for each other
            if not _is_free(file, byte):
                warn("another job, probably of a killed run, makes the same files; waiting for it to end")
                fcntl.lockf(file, fcntl.LOCK_EX, 1, byte)


def check_unclaimed(experiment: str, jobs: Iterable[Any]) -> None:
    """Raise UserError if a job on a cluster takes the step of one of these `jobs` of Snakemake's."""
    with suppress(OSError), os.fdopen(_open(), "wb") as file:  # whose end releases what it holds
        for job in jobs:
            wildcards = ",".join(f"{name}={value}" for name, value in job.wildcards_dict.items())
            if not _is_free(file.fileno(), _byte(experiment, f"{job.rule.name}:{wildcards}")):
                raise UserError(
                    f"{job.rule.name}: a job of a killed run still does this on the cluster; wait until it has ended, "
                    "or cancel it"
                )


def _open() -> int:
    LOCKS.parent.mkdir(exist_ok=True)
    return os.open(LOCKS, os.O_RDWR | os.O_CREAT, 0o666)


def _byte(experiment: str, step: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{experiment} {step}".encode()).digest()[:7])


def _is_free(file: int, byte: int) -> bool:
    """Whether no other process holds the lock of a byte; this process holds it from now on."""
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
    except (BlockingIOError, PermissionError):
        return False
    return True
