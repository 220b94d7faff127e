"""Options that several steps share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PosixPath

from nmt.system.errors import UserError
from nmt.system.files import check_apart, check_no_model, check_outputs, check_outside, is_named_pipe

MOST = 10**15  # whole numbers below it are exact everywhere
MOST_THREADS = 1024  # a process that starts far too many threads ends without a message
STANDARD_INPUT = Path("/dev/stdin")
# Options whose words name no files, even if a file has that name: an archive is named as in the registry.
NO_FILES = {"archive", "labels", "language", "languages", "members", "name", "names", "set", "sets", "systems"}


class Output(PosixPath):
    """The type of an option that names a file to write."""


class OutputFolder(PosixPath):
    """The type of an option that names a folder to write to."""


class ReplacedFolder(OutputFolder):
    """The type of an option that names a folder that is replaced as a whole."""


def check(arguments: argparse.Namespace) -> None:
    """Raise UserError, before any work, for a number out of range and an output that is not writable.

    An output that is named twice, that is an input, that lies in the folder of a model, or that is a file to which a
    shell has redirected a stream, is refused, too. So is a replaced folder that contains an input. Every other path
    among the options is an input, as is a word that names a file, except in NO_FILES; neither may be a named
    pipe. Standard input is an input, too, if it is a file.
    """
    check_numbers(arguments)
    outputs, inputs = [], []
    for name, value in _values(arguments):
        if name in NO_FILES:
            continue
        if isinstance(value, Output | OutputFolder):
            outputs.append(value)
        elif isinstance(value, Path | str) and is_named_pipe(value):
            raise UserError(f"{value}: a named pipe, which might block forever; name a file or /dev/stdin")
        elif isinstance(value, Path) or (isinstance(value, str) and os.path.isfile(value)):
            inputs.append(value)
    if os.path.isfile(STANDARD_INPUT):
        inputs.append(STANDARD_INPUT)
    check_apart(outputs, inputs)
    _check_streams(outputs)
    for path in outputs:
        if isinstance(path, ReplacedFolder):
            check_outside(path, inputs)
        elif isinstance(path, Output):
            check_no_model(path)
    check_outputs(map(_written, outputs))


def _check_streams(outputs: Iterable[Path]) -> None:
    """Raise UserError for an output that is a file to which a shell has redirected a stream: that would be replaced."""
    for path in outputs:
        named = [int(path.name)] if path.parent.name == "fd" and path.name.isdecimal() else []
        for descriptor in (1, 2, *named):
            with suppress(OSError):
                if path.is_file() and os.path.samestat(path.stat(), os.fstat(descriptor)):
                    raise UserError(f"{path}: output is redirected to this file, too; name another file")


def _written(path: Output | OutputFolder) -> Path:
    """The file to write; for a folder a file in it or, where there is none yet, a file in its place."""
    if isinstance(path, OutputFolder) and path.is_file():
        raise UserError(f"{path}: a file; name a folder")
    return path / "output" if isinstance(path, OutputFolder) and path.is_dir() else path


def _values(arguments: argparse.Namespace) -> Iterator[tuple[str, object]]:
    """The name and value of each option; one that takes several values comes once for each."""
    for name, given in vars(arguments).items():
        for value in given if isinstance(given, list) else [given]:
            yield name, value


def add_threads_argument(parser: argparse._ActionsContainer, about: str, *, required: bool = False) -> None:
    """The option --threads, a number of threads or processes; `about` is its help."""
    parser.add_argument("--threads", type=_threads, required=required, metavar="N", help=about)


def _threads(text: str) -> int:
    if not (text.isdecimal() and len(text) < 10 and 1 <= int(text) <= MOST_THREADS):
        raise UserError(f"--threads {text}: must be a whole number from 1 to {MOST_THREADS}")
    return int(text)


def check_numbers(arguments: argparse.Namespace) -> None:
    """Raise UserError where a whole number among the options is negative or larger than any use."""
    for name, number in _values(arguments):
        if isinstance(number, int) and not 0 <= number < MOST:
            what = "must not be negative" if number < 0 else f"must be below {MOST}"
            raise UserError(f"--{name.replace('_', '-')} {number}: {what}")


def add_device_arguments(parser: argparse._ActionsContainer) -> None:
    """The options --device and --threads of a step that runs a model; `nmt.system.device.prepare` applies them."""
    parser.add_argument(
        "--device",
        default="auto",
        choices=("auto", "cpu", "cuda"),
        help="where to compute; auto takes a GPU where there is one (default: %(default)s)",
    )
    add_threads_argument(parser, "CPU threads (default: one a core)")
