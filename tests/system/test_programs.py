"""Programs end with the step that runs them, and so does what they have started."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from nmt.system import programs
from nmt.system.programs import end_programs, running

ROOT = Path(__file__).parents[2]
# A program that starts another one, says its process and waits. A shell in the background hands SIGINT on as ignored.
PROGRAM = ["/bin/sh", "-c", "sleep 100 & echo $!; wait"]
STEP = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nfrom nmt.system.programs import *\n"
STEP += f"with running({PROGRAM}, lambda: False) as program: program.wait()"


def never() -> bool:
    return False


def wait_for_end(process: int) -> None:
    """Fail unless the process ends within ten seconds; one that is dead but not yet reaped has ended."""
    state = Path(f"/proc/{process}/stat")
    for _ in range(200):
        try:
            if state.read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except (FileNotFoundError, ProcessLookupError):
            return
        time.sleep(0.05)
    pytest.fail("the program lives on")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_program_ends_with_a_killed_step(number: int) -> None:
    with subprocess.Popen([sys.executable, "-c", STEP], cwd=ROOT, stdout=subprocess.PIPE, text=True) as step:
        assert step.stdout is not None
        started = int(step.stdout.readline())
        step.send_signal(number)
        wait_for_end(started)


def test_a_program_ends_where_its_start_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Interrupted(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, command: list[str], **options: Any) -> None:
            super().__init__(command, **options)
            if command == PROGRAM:
                assert self.stdout is not None
                started.append(int(self.stdout.readline()))
                raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt), running(PROGRAM, never, stdout=subprocess.PIPE):
        pass
    wait_for_end(*started)


def test_a_program_ends_after_an_error() -> None:
    with suppress(ZeroDivisionError), running(PROGRAM, never, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        started = int(program.stdout.readline())
        raise ZeroDivisionError
    wait_for_end(started)
    assert program.returncode == -signal.SIGKILL


def test_a_program_ends_by_itself() -> None:
    command = ["/bin/sh", "-c", "sleep 100 > /dev/null & echo $!; exit 3"]
    with running(command, never, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        started = int(program.stdout.read())
    assert program.returncode == 3
    wait_for_end(started)


def test_the_programs_of_other_threads_can_be_ended() -> None:
    def run() -> int:
        with running(["sleep", "100"], never) as program:
            pass
        return program.returncode

    with ThreadPoolExecutor(2) as pool:
        codes = [pool.submit(run) for _ in range(2)]
        time.sleep(0.5)
        end_programs()
        assert [code.result(10) for code in codes] == [-signal.SIGKILL] * 2


def test_a_program_ends_at_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "INTERVAL", 0.01)
    with running(["sleep", "100"], lambda: True) as program:
        pass
    assert program.returncode == -signal.SIGKILL


def test_a_program_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), running([tmp_path / "nothing"], never):
        pass
