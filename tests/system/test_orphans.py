"""After a run is killed, the next run removes its locks, and its jobs end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from nmt.system.orphans import RUN, end_gently

ROOT = Path(__file__).parents[2]
HOLD = "import sys, time; from nmt.system.orphans import *; clear_locks(Path(sys.argv[1])); print('ready', flush=True)"
NAME = "; name_locks(Path(sys.argv[1]), [Path(sys.argv[1], 'locks/0.output.lock')])"
JOB = "import os, time; from nmt.system.orphans import *"
JOB += "; end_with_run(); print(os.getppid(), flush=True); time.sleep(100)"
SHELL = f'{sys.executable} -c "{JOB}"; true'  # `; true` keeps the shell from being replaced by the job
START = "import subprocess; from nmt.system.orphans import *; announce(); subprocess.run(['bash', '-c', {!r}])"


def python(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True)


@contextmanager
def living(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A run in `folder`, killed at the end."""
    with python(f"{HOLD}; time.sleep(100)", str(folder)) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
        yield run
        run.kill()


def locked(folder: Path) -> Path:
    lock = folder / "locks" / "0.output.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("results/table1.csv\n")
    return lock


def clear(folder: Path) -> None:
    """Do what the next run does."""
    with python(HOLD, str(folder)) as run:
        run.communicate()


def name_and_die(folder: Path) -> None:
    """Do what a run does that records its lock and is killed."""
    with python(f"{HOLD}{NAME}", str(folder)) as run:
        run.communicate()


def test_the_locks_of_killed_runs_are_removed_by_the_next(tmp_path: Path) -> None:
    with living(tmp_path):
        lock = locked(tmp_path)
    assert lock.exists()
    clear(tmp_path)
    assert not lock.exists()


def test_locks_are_kept_as_long_as_any_run_lives(tmp_path: Path) -> None:
    with living(tmp_path):
        lock = locked(tmp_path)
        with living(tmp_path):
            pass
        clear(tmp_path)
        assert lock.exists()


def test_a_dead_runs_own_locks_are_removed_while_others_live(tmp_path: Path) -> None:
    lock = locked(tmp_path)
    others = lock.with_name("1.output.lock")
    others.touch()
    with living(tmp_path):
        name_and_die(tmp_path)
        assert lock.exists()
        clear(tmp_path)
        assert not lock.exists()
        assert others.exists()


def test_the_lock_of_a_later_run_is_not_that_of_a_dead_one(tmp_path: Path) -> None:
    """It may be on another machine, and have the same name."""
    lock = locked(tmp_path)
    with living(tmp_path):
        name_and_die(tmp_path)
        lock.unlink()
        lock.write_text("results/table1.csv\n")
        clear(tmp_path)
        assert lock.exists()


def test_locks_that_runs_of_another_machine_have_recorded_are_kept(tmp_path: Path) -> None:
    """Where each machine has locks of its own, a start does not see that they live."""
    lock = locked(tmp_path)
    others = lock.with_name("1.output.lock")
    others.touch()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/elsewhere.1").write_text(f"{others.name} 1.1")
    with living(tmp_path):
        pass
    (tmp_path / "runs.lock").write_text(os.uname().nodename)
    clear(tmp_path)
    assert not lock.exists()
    assert others.exists()


def test_a_run_knows_whether_others_live(tmp_path: Path) -> None:
    said = "import sys; from nmt.system.orphans import *; print(clear_locks(Path(sys.argv[1])))"
    for alive in (False, True):
        with living(tmp_path) if alive else nullcontext(), python(said, str(tmp_path)) as run:
            assert run.communicate()[0] == f"{alive}\n"


def test_a_signal_does_not_wait_for_a_lock_of_the_main_thread() -> None:
    lock, done = threading.Lock(), threading.Event()

    class Scheduler:
        def exit_gracefully(self, *_: object) -> None:
            with lock:
                done.set()

    end_gently(Scheduler)
    before = signal.signal(signal.SIGTERM, Scheduler().exit_gracefully)
    try:
        with lock:
            signal.raise_signal(signal.SIGTERM)
            assert not done.is_set()
        assert done.wait(60)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_locks_of_another_machine_are_kept(tmp_path: Path) -> None:
    lock = locked(tmp_path)
    (tmp_path / "runs.lock").write_text("another")
    clear(tmp_path)
    assert lock.exists()
    lock.unlink()
    with living(tmp_path):
        lock.write_text("")
    clear(tmp_path)
    assert not lock.exists()


@pytest.mark.parametrize("whom", ["run", "shell"])
def test_a_job_ends_with_its_run_and_with_its_shell(whom: str) -> None:
    with python(START.format(SHELL)) as run:
        assert run.stdout is not None
        shell = int(run.stdout.readline())
        subprocess.run(["kill", "-KILL", str(run.pid if whom == "run" else shell)], check=True)
        assert run.stdout.read() == ""  # a living job would keep the pipe open
        run.kill()


def test_a_job_of_a_dead_run_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with python("pass") as over:
        over.wait()
    monkeypatch.setenv(RUN, str(over.pid))
    with python(JOB) as job:
        assert job.wait(60) == -signal.SIGTERM


def test_a_step_started_by_hand_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RUN, raising=False)
    with python(
        "import threading; from nmt.system.orphans import *; end_with_run(); print(threading.active_count())"
    ) as job:
        assert job.communicate()[0] == "1\n"
