"""Choose a GPU that no other process of this project uses on this machine.

Each GPU has a lock file in the folder of temporary files, which a process holds as long as it lives. When all GPUs are
taken, further processes share them evenly, by a second lock file for each GPU, and so on.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from nmt.system.errors import warn

_held: list[int] = []  # descriptors of the locks, open until the process ends


def claim(names: Sequence[str]) -> int:
    """Claim the least used GPU for the lifetime of this process and return its number.

    `names` identify the GPUs on the whole machine, since a process may see only some of them, in any order.
    """
    try:
        places = ((number, others) for others in count() for number in range(len(names)))  # the least shared first
        number, others = next(place for place in places if _taken(names[place[0]], place[1]))
    except OSError as error:
        warn(f"{tempfile.gettempdir()}: {error.strerror}; unknown which GPUs are free; the first is used")
        return 0
    if others:
        warn(f"all {len(names)} GPUs are taken; GPU {number} is shared with {others} other processes of this project")
    return number


def _taken(name: str, others: int) -> bool:
    """Try to claim the place after `others` processes on the GPU `name`; whether it was free."""
    descriptor = _open(Path(tempfile.gettempdir()) / f"nmt-gpu-{name}.{others}.lock")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    _held.append(descriptor)
    return True


def _open(path: Path) -> int:
    """Open `path` for reading, which suffices to lock another user's file; create it if it is missing."""
    while True:
        try:
            return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            pass
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            continue  # another process created it
        os.fchmod(descriptor, 0o644)
        return descriptor
