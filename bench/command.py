"""Run another program."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence


def run(words: Sequence[object]) -> str:
    """Run a command; returns its standard output. If it fails, this program ends with one line."""
    command = [str(word) for word in words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:4])} ...: exit status {done.returncode}")
    return done.stdout
