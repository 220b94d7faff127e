"""Standard streams that the caller has closed, as `>&-` does in a shell.

Python has None in their place, so that what is printed for standard error goes to standard output, and the next file
that is opened gets the number of a closed stream, and with it whatever a library prints there.
"""

from __future__ import annotations

import os
import sys


def open_closed() -> None:
    """Put a stream in the place of each closed one: errors and warnings vanish, any other use is refused (EBADF)."""
    for name, mode, access in (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, access)
            os.set_inheritable(descriptor, True)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8"))  # noqa: SIM115 (open until the end)


def discard_output() -> None:
    """Drop what standard output could not take, which must not fail again when Python flushes it at the end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
