"""A reader of standard error that leaves ends neither the process nor what it starts; any character can be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.numbers import ROOT

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


LOGGED = """
import logging
from nmt.system.streams import escape_output
handler = logging.FileHandler("log")
escape_output([logging.NullHandler(), handler])
handler.emit(logging.makeLogRecord({"msg": "Stra\\xdfe"}))
print("Stra\\xdfe")
"""


def test_what_the_locale_lacks_is_escaped(tmp_path: Path) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", LOGGED]
    run = subprocess.run(command, cwd=tmp_path, env=os.environ | ascii_only, capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("Stra\\xdfe\n", "")
    assert (tmp_path / "log").read_text() == run.stdout
