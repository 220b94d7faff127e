"""Programs that a step runs: they end with the step, however it ends, together with all that they have started.

A killed step would otherwise leave programs that write into the files of the next one.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

# Leads the process group of a program. Its pipe is closed by the step, or by the system when the step has ended.
GUARD = ["/bin/sh", "-c", "read -r _; kill -s KILL 0"]
_PIPES: set[IO[bytes]] = set()  # to the guards of the programs that run
INTERVAL = 5.0  # seconds between two checks


@contextmanager
def running(
    command: Sequence[str | Path], until: Callable[[], bool], **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program in a process group of its own, and wait for it at the end of the block; an error kills it.

    It is also killed when `until()` is true, which is checked every few seconds. What it has started and left running
    is killed, too. `options` are those of `subprocess.Popen`. Raises OSError if the program cannot be started.
    """
    with subprocess.Popen(GUARD, stdin=subprocess.PIPE, bufsize=0, process_group=0) as guard:
        pipe, ended = guard.stdin, threading.Event()
        assert pipe is not None

        def look() -> None:
            while not (pipe.closed or ended.wait(INTERVAL)):
                if until():
                    pipe.close()

        with subprocess.Popen(command, process_group=guard.pid, **options) as process:
            try:
                _PIPES.add(pipe)
                threading.Thread(target=look, daemon=True).start()
                yield process
                process.wait()
            finally:
                ended.set()
                _PIPES.discard(pipe)
                pipe.close()


def end_programs() -> None:
    """Kill the programs that other threads of this step run."""
    for pipe in list(_PIPES):
        pipe.close()
