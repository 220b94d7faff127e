"""Options that several steps share."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path, PosixPath

from nmt.system.files import UserError, check_outputs


class Output(PosixPath):
    """The type of an option that names a file to write."""


class OutputFolder(PosixPath):
    """The type of an option that names a folder to write to."""


def check(arguments: argparse.Namespace) -> None:
    """Raise UserError where an output that the options name cannot be written, or is named twice: before any work."""
    check_outputs(_outputs(arguments))


def _outputs(arguments: argparse.Namespace) -> Iterator[Path]:
    """The files to write; for a folder a file in it or, where there is none yet, a file in its place."""
    for given in vars(arguments).values():
        for path in given if isinstance(given, list) else [given]:
            if isinstance(path, OutputFolder):
                if path.is_file():
                    raise UserError(f"{path}: a file; name a folder")
                yield path / "output" if path.is_dir() else path
            elif isinstance(path, Output):
                yield path


def add_device_arguments(parser: argparse.ArgumentParser) -> None:
    """The options --device and --threads of a step that runs a model; `nmt.system.device.prepare` applies them."""
    parser.add_argument(
        "--device",
        default="auto",
        choices=("auto", "cpu", "cuda"),
        help="where to compute; auto takes a GPU where there is one (default: %(default)s)",
    )
    parser.add_argument("--threads", type=int, metavar="N", help="CPU threads (default: one a core)")
