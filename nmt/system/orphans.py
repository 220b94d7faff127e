"""What a killed Snakemake leaves behind: a lock on its folder, and jobs that go on alone.

Snakemake's lock is files in `.snakemake/locks`, which outlive it. Beside them every run keeps a shared lock of the
operating system's, which ends with the process, whatever ends it: where nobody holds one, the files are the dead's.
(Snakemake's option `nolock` would do without the files, but let two runs write the same outputs.)
A job knows its run by an environment variable, and ends when that, or the shell between them, does: the next run, which
may begin at once, finds nobody at work on its files.
"""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import signal
import threading
from pathlib import Path

RUN = "NMT_RUN"  # the process of Snakemake, for its jobs


def announce() -> None:
    """Tell the jobs to come that this process runs them."""
    os.environ[RUN] = str(os.getpid())


def clear_locks(folder: Path) -> None:
    """Remove the locks in Snakemake's `folder` where all runs that made them are dead; join those that live.

    Left alone are those of another machine, which this one may not see at work, and of file systems without locks.
    """
    locks, here = folder / "locks", os.uname().nodename.encode()
    try:
        folder.mkdir(exist_ok=True)
        file = os.open(folder / "runs.lock", os.O_RDWR | os.O_CREAT)  # and never closed
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.pread(file, 1000, 0) == here:
                shutil.rmtree(locks, ignore_errors=True)
            if not any(locks.glob("*.lock")):
                os.ftruncate(file, 0)
                os.pwrite(file, here, 0)
        except BlockingIOError:
            pass
        fcntl.flock(file, fcntl.LOCK_SH)
    except OSError:
        return


def end_with_run() -> None:
    """Have this process end, by SIGTERM, once its run or its parent has; a step that is run by hand is left alone.

    Only Linux can wait for a process that is no child; elsewhere nothing is done.
    """
    run = os.environ.get(RUN)
    if run is None or not hasattr(os, "pidfd_open"):
        return
    poll = select.poll()
    try:
        for process in (int(run), os.getppid()):
            poll.register(os.pidfd_open(process), select.POLLIN)
    except ProcessLookupError:
        os.kill(os.getpid(), signal.SIGTERM)
    except OSError:
        return  # a kernel before 5.3

    def wait() -> None:
        poll.poll()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
