"""What all benchmarks need: running another program, and the name of the processor."""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path


def run(words: Sequence[object]) -> str:
    """Run a command; returns its standard output. If it fails, this program ends with one line."""
    command = [str(word) for word in words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:4])} ...: exit status {done.returncode}")
    return done.stdout


def processor() -> str:
    """The name of the processor in /proc/cpuinfo, otherwise that of the architecture."""
    information = Path("/proc/cpuinfo")
    text = information.read_text() if information.exists() else ""
    name = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return name[1].strip() if name else platform.machine()
