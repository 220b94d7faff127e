"""Options that several steps share."""

from __future__ import annotations

import argparse

from nmt.system.files import UserError

MOST = 10**15  # whole numbers below it are exact everywhere
MOST_THREADS = 1024  # many more than a machine can start end the process without a word


def add_threads_argument(parser: argparse.ArgumentParser, about: str, *, required: bool = False) -> None:
    """The option --threads, a number of threads or processes; `about` is its help."""
    parser.add_argument("--threads", type=_threads, required=required, metavar="N", help=about)


def _threads(text: str) -> int:
    if not (text.isdecimal() and len(text) < 10 and 1 <= int(text) <= MOST_THREADS):
        raise UserError(f"--threads {text}: must be a whole number from 1 to {MOST_THREADS}")
    return int(text)


def check_numbers(arguments: argparse.Namespace) -> None:
    """Raise UserError where a whole number among the options is negative or larger than any use."""
    for name, value in vars(arguments).items():
        for number in value if isinstance(value, list) else [value]:
            if isinstance(number, int) and not 0 <= number < MOST:
                what = "must not be negative" if number < 0 else f"must be below {MOST}"
                raise UserError(f"--{name.replace('_', '-')} {number}: {what}")


def add_device_arguments(parser: argparse.ArgumentParser) -> None:
    """The options --device and --threads of a step that runs a model; `nmt.system.device.prepare` applies them."""
    parser.add_argument(
        "--device",
        default="auto",
        choices=("auto", "cpu", "cuda"),
        help="where to compute; auto takes a GPU where there is one (default: %(default)s)",
    )
    add_threads_argument(parser, "CPU threads (default: one a core)")
