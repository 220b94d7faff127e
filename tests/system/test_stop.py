"""Signals that request a stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.system.stop import Stop, interruptible, temporary_folder


def test_a_second_interrupt_stops_at_once() -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    with Stop() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    with Stop(patient=True) as stop:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.asked
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == handlers


def test_a_temporary_folder_does_not_outlive_sigterm(tmp_path: Path) -> None:
    def work() -> None:
        with temporary_folder("step", tmp_path) as folder:
            (folder / "file").touch()
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as end:
        work()
    assert end.value.code == 143
    assert list(tmp_path.iterdir()) == []
    with temporary_folder("step", tmp_path) as folder:
        assert folder.name.startswith("step.")
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_sigterm_while_an_object_is_finalized_ends_the_step_all_the_same(tmp_path: Path) -> None:
    """There Python prints an exception and drops it."""

    class Finalized:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

    def work() -> None:
        with temporary_folder("step", tmp_path):
            finalized = Finalized()
            del finalized

    with pytest.raises(SystemExit) as end:
        work()
    assert end.value.code == 143
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("sigint")
def test_sigint_ends_code_that_is_not_python_at_once() -> None:
    code = "import os, signal; from nmt.system.stop import interruptible\nwith interruptible(): os.kill(os.getpid(), 2)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGINT
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interruptible():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # as of a job in the background
    signal.signal(signal.SIGINT, before)
    with interruptible():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is before
