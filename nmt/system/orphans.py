"""Clean up after a killed Snakemake, which leaves a lock on its folder and jobs that continue without it.

Snakemake's lock consists of files in `.snakemake/locks` that outlive the process. In addition each run holds a shared
lock of the operating system, which is released whenever the process ends: if nobody holds it, the files are from dead
runs. Each run also holds a file of its own, which names its locks, so that they can be removed while others live.
(Snakemake's option `nolock` would avoid the files, but would let two runs write the same outputs.)
A job learns from an environment variable which run it belongs to, and ends when the run, or the shell between them,
ends, so that the next run may start at once.
"""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import signal
import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TextIO
from uuid import uuid4

RUN = "NMT_RUN"  # names the process of Snakemake to its jobs


def announce() -> None:
    """Announce this process as the run to the jobs that it will start."""
    os.environ[RUN] = str(os.getpid())


def clear_locks(folder: Path) -> bool:
    """Remove the locks in Snakemake's `folder` that dead runs made; register this run. Return whether others live.

    Locks from another machine, whose runs are not visible here, and those on file systems without locking are left
    alone.
    """
    locks, here = folder / "locks", os.uname().nodename.encode()
    others = False
    try:
        folder.mkdir(exist_ok=True)
        file = os.open(folder / "runs.lock", os.O_RDWR | os.O_CREAT)  # open until the process ends
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.pread(file, 1000, 0) == here:
                for lock in {*locks.glob("*.lock")} - _recorded_elsewhere(folder):
                    lock.unlink(missing_ok=True)
            if not any(locks.glob("*.lock")):
                os.ftruncate(file, 0)
                os.pwrite(file, here, 0)
        except BlockingIOError:
            others = True
        fcntl.flock(file, fcntl.LOCK_SH)
        _clear_dead_locks(folder)
    except OSError:
        pass
    return others


def _recorded_elsewhere(folder: Path) -> set[Path]:
    """The locks that runs of other machines have recorded."""
    here = f"{os.uname().nodename}."
    records = (record for record in folder.glob("runs/*") if not record.name.startswith(here))
    lines = (line for record in records for line in record.read_text(errors="replace").split("\n"))
    return {folder / "locks" / line.partition(" ")[0] for line in lines}


def _clear_dead_locks(folder: Path) -> None:
    """Remove the locks that dead runs of this machine have recorded, if they are still theirs."""
    for record in folder.glob(f"runs/{os.uname().nodename}.*"):
        with suppress(OSError), open(record, "r+", errors="replace") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # NFS locks only files that are open for writing
            for line in file.read().split("\n"):
                name, _, identity = line.partition(" ")
                lock = folder / "locks" / name
                if identity and identity == _identity(lock):
                    lock.unlink(missing_ok=True)
            record.unlink(missing_ok=True)


def _identity(lock: Path) -> str:
    """What tells a lock from a later one of the same name; "" if there is none."""
    try:
        found = lock.stat()
    except FileNotFoundError:
        return ""
    return f"{found.st_ino}.{found.st_mtime_ns}"


def name_locks(folder: Path, locks: Iterable[Path]) -> None:
    """Record which files in Snakemake's `folder` are the locks of this run, for their removal once it is dead."""
    with suppress(OSError):
        record = _record(folder)
        record.seek(0)
        record.truncate()
        record.write("\n".join(f"{lock.name} {_identity(lock)}" for lock in locks))
        record.flush()


@cache
def _record(folder: Path) -> TextIO:
    """The record of the locks of this run, open and locked until the process ends.

    Its name is new, because runs in containers may have the same host name and process number.
    """
    (folder / "runs").mkdir(exist_ok=True)
    file = open(folder / "runs" / f"{os.uname().nodename}.{uuid4().hex}", "w")  # noqa: SIM115
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def spare_locks(persistence: Any, folder: Path) -> None:
    """Let a run record its locks in Snakemake's `folder`, and remove only its own ones at its end.

    `persistence` is Snakemake's class, which removes the locks of all runs; one that has other methods is left alone.
    """
    write_locks = getattr(persistence, "_write_locks", None)
    if write_locks is None or not hasattr(persistence, "_delete_locks"):
        return

    def write(run: Any, kind: str, keys: Iterable[str]) -> None:
        write_locks(run, kind, keys)
        name_locks(folder, map(Path, run._lockfile.values()))

    def remove_own(run: Any) -> None:
        for lock in run._lockfile.values():
            Path(lock).unlink(missing_ok=True)
        run._lockfile.clear()
        with suppress(OSError):
            Path(_record(folder).name).unlink()

    def unlock(run: Any) -> None:
        shutil.rmtree(run._lockdir)

    persistence._write_locks, persistence._delete_locks, persistence.cleanup_locks = write, remove_own, unlock


def end_gently(scheduler: Any) -> None:
    """Let Snakemake handle SIGTERM in another thread: the handler waits for a lock that the main thread may hold.

    `scheduler` is Snakemake's class; one without this handler is left alone.
    """
    handler = getattr(scheduler, "exit_gracefully", None)
    if handler is not None:
        scheduler.exit_gracefully = lambda *arguments: threading.Thread(
            target=handler, args=arguments, daemon=True
        ).start()


def end_with_run() -> None:
    """End this process by SIGTERM when its run or its parent ends; does nothing for a step started by hand.

    Only Linux can wait for a process that is not a child; on other systems nothing is done.
    """
    run = os.environ.get(RUN, "")
    if not run.isdecimal() or not hasattr(os, "pidfd_open"):
        return
    poll = select.poll()
    try:
        for process in (int(run), os.getppid()):
            poll.register(os.pidfd_open(process), select.POLLIN)
    except ProcessLookupError:
        os.kill(os.getpid(), signal.SIGTERM)
    except (OSError, OverflowError, ValueError):
        return  # a kernel before 5.3, or no number of a process

    def wait() -> None:
        poll.poll()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
