"""Which of several GPUs a process computes on: one that no other process of this machine has taken.

For each GPU there is a lock file in the folder of temporary files, held as long as the process lives, however it ends.
Where all are taken further processes share them evenly, by a second lock file for each, and so on.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from nmt.system.files import warn

_held: list[int] = []  # descriptors of the locks, open until the process ends


def claim(names: Sequence[str]) -> int:
    """Take one of the GPUs for the life of this process: the number of the first of those that fewest have taken.

    `names` tell them apart on the whole machine, whichever of them a process sees, and in which order.
    """
    try:
        number, others = next(place for place in _places(len(names)) if _taken(names[place[0]], place[1]))
    except OSError as error:
        warn(f"{tempfile.gettempdir()}: {error.strerror}; which GPUs are free is not known, so the first is used")
        return 0
    if others:
        warn(f"all {len(names)} GPUs are taken; GPU {number} is shared with {others} more of our processes")
    return number


def _places(gpus: int) -> Iterator[tuple[int, int]]:
    """Each GPU's number with the number of processes it is shared with, the less shared first."""
    return ((number, others) for others in count() for number in range(gpus))


def _taken(name: str, others: int) -> bool:
    """Whether this process has now got the place on the GPU `name` that comes after so many others'."""
    descriptor = _open(Path(tempfile.gettempdir()) / f"nmt-gpu-{name}.{others}.lock")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    _held.append(descriptor)
    return True


def _open(path: Path) -> int:
    """`path` opened for reading, which is all that a lock needs of another user's file; made where it is missing."""
    while True:
        try:
            return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            pass
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            continue  # another process was faster
        os.fchmod(descriptor, 0o644)
        return descriptor
