"""A reader of standard error that leaves ends neither the process nor what it starts."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import logging, subprocess, sys
from nmt.system.streams import outlive_readers
handler = logging.StreamHandler()
outlive_readers([handler])
print("first", file=sys.stderr, flush=True)
sys.stdin.readline()
handler.emit(logging.makeLogRecord({"msg": "second"}))
handler.flush()
print("third", file=sys.stderr, flush=True)
subprocess.run([sys.executable, "-c", "import sys; print(4, file=sys.stderr, flush=True)"], check=True)
print("done")
"""


STEP = """
import sys
from nmt import __main__ as program
def work(*_):
    print("first", file=sys.stderr, flush=True)
    sys.stdin.readline()
    print("second", file=sys.stderr, flush=True)
    print("third", file=sys.stderr, flush=True)
    print("done")
program._run = work
sys.exit(program.main(["status"]))
"""


@pytest.mark.parametrize("script", [SCRIPT, STEP])
def test_a_reader_that_leaves_ends_nothing(script: str) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], text=True, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stderr.readline() == "first\n"
        process.stderr.close()
        process.stdin.write("\n")
        process.stdin.close()
        assert process.stdout.read() == "done\n"
    assert process.returncode == 0
