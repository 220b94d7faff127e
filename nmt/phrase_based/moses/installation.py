"""A Moses installation that the user names: a folder of programs, and its training scripts in `scripts` beside it."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from nmt.settings.sections import PhraseBased
from nmt.system.errors import UserError
from nmt.system.programs import running

PERL = "perl"
STDERR = 2  # the descriptor, because Python's sys.stderr may be no file that a program can write to
# With several threads, fast_align adds numbers in varying order, so two runs would differ.
ALONE = {"OMP_NUM_THREADS": "1"}
# What a program, or one that it has called, prints when no space is left.
CAUSE = re.compile(rb"No space left on device|Disk quota exceeded|Cannot allocate memory|bad_alloc")
# What scripts print when a program that they have called fails; they use its output anyway.
FAILED = re.compile(
    rb"died with signal|unexpected end of file|invalid compressed data|not in gzip format|Exit code: [1-9]|^Killed"
    rb"|Segmentation fault"
)
NAME_IT = "name the folder of Moses's programs in the setting phrase_based.bin"


class Moses:
    """The programs of an installation."""

    def __init__(self, folder: Path, version: str) -> None:
        """Find Moses in `folder`. Raises UserError unless `moses --version` prints `version` ("" for any version)."""
        self.folder = folder
        self.version = self._version()
        if version not in self.version:
            raise UserError(
                f"{folder / 'moses'}: {self.version}, not {version}; {NAME_IT}, or correct phrase_based.version"
            )

    def _version(self) -> str:
        program = self.program("moses")
        try:
            said = subprocess.run(
                [program, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
            )
        except OSError as error:
            raise UserError(f"{program}: cannot be run ({error.strerror}); {NAME_IT}") from None
        lines = [line.strip() for line in said.stdout.split("\n") if line.strip()]
        if not any("moses" in line.lower() for line in lines):
            raise UserError(f"{self.folder / 'moses'}: does not identify itself as Moses; {NAME_IT}")
        return " ".join(lines[:2])

    def has(self, name: str) -> bool:
        """Whether there is a program of this name."""
        return (self.folder / name).exists()

    def program(self, name: str) -> Path:
        """The path of a program. Raises UserError if there is none, or if it cannot be executed."""
        path = self.folder / name
        if not path.exists():
            raise UserError(f"{path}: no such program; {NAME_IT}")
        if not os.access(path, os.X_OK):
            raise UserError(f"{path}: cannot be executed; run chmod +x {shlex.quote(str(path))}")
        return path.resolve()

    def script(self, name: str) -> Path:
        """The path of a training script. Raises UserError if there is none."""
        script = self.folder / ".." / "scripts" / "training" / name
        if not script.exists():
            raise UserError(f"{script}: no such script; the folder `scripts` must be beside {self.folder}")
        return script.resolve()


def add_moses_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the installation and hold the settings."""
    parser.add_argument("--bin", type=Path, required=True, help="folder of Moses's programs")
    PhraseBased.add_argument(parser)


def moses_of(arguments: argparse.Namespace) -> Moses:
    """The installation that the options name."""
    settings: PhraseBased = arguments.settings
    return Moses(arguments.bin, settings.version)


def call(command: Sequence[str | Path], work: Path, source: Path | None = None, output: Path | None = None) -> None:
    """Run a program of Moses, or perl with a script, with its standard error on ours. Raises UserError if it fails.

    `work` is the folder that it fills. When its disk is full, the program is stopped, because some programs would then
    never end.
    """
    shown = shlex.join(str(word) for word in command)
    print(f"moses: {shown}", file=sys.stderr, flush=True)
    name = command[1] if command[0] == PERL else command[0]
    full = threading.Event()

    def is_full() -> bool:
        if os.statvfs(work).f_bavail == 0:
            full.set()
        return full.is_set()

    with open(source or os.devnull, "rb") as given, open(output or os.devnull, "wb") as written:
        streams = (written, subprocess.PIPE) if output else (subprocess.PIPE, subprocess.STDOUT)
        options = {"stdin": given, "stdout": streams[0], "stderr": streams[1], "env": os.environ | ALONE}
        try:
            with running(command, is_full, **options) as process:
                for line in (process.stderr if output else process.stdout) or ():
                    with suppress(OSError):
                        os.write(STDERR, line)
                    if cause := CAUSE.search(line):
                        raise UserError(f"{name}: {cause[0].decode()}; free some and repeat")
                    if command[0] == PERL and FAILED.search(line):
                        said = line.decode(errors="replace").strip()
                        raise UserError(f"{name}: a program that it has called failed ({said}); the log says why")
        except OSError as error:
            what = "Moses's scripts need perl on the PATH" if command[0] == PERL else NAME_IT
            raise UserError(f"{command[0]}: cannot be run ({error.strerror}); {what}") from None
    if is_full():
        raise UserError(f"{work}: no space left; free some and repeat")
    if code := process.returncode:
        how = f"was killed ({signal.Signals(-code).name})" if code < 0 else f"failed with exit code {code}"
        raise UserError(f"{name}: {how}; {'repeat with more memory' if code < 0 else 'the log says why'}")
