"""Locks of the operating system, which no killed process leaves behind."""

from __future__ import annotations

import fcntl
from typing import IO


def acquire(file: int | IO[bytes] | IO[str], wait: bool = True) -> bool:
    """Lock an open file until it is closed everywhere; without `wait`, return False where another process has the lock.

    On a file system without locks, others are not kept out.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
