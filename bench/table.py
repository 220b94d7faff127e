"""The options of a benchmark, and the table that it prints and writes."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from nmt.system.errors import UserError
from nmt.system.options import Output, check


def make_parser(
    name: str, description: str | None, rounds: int | None = None, contenders: Iterable[str] = ()
) -> argparse.ArgumentParser:
    """The parser of `python -m bench.NAME`: the output file and, by default `rounds`, the number of rounds if any.

    With `contenders`, the names of implementations, `only` is the list of those that the user wants: by default all.
    """
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=description)
    if rounds is not None:
        parser.add_argument(
            "--rounds", type=_count, default=rounds, help="measurements of each contender (default: %(default)s)"
        )
    output = Output(f"results/bench/{name}.csv")
    parser.add_argument("--output", type=Output, default=output, help="CSV file (default: %(default)s)")
    names = list(dict.fromkeys(contenders))

    def known(contender: str) -> str:
        if contender not in names:
            raise SystemExit(f"bench.{name}: {contender}: no such implementation; there are: {shlex.join(names)}")
        return contender

    if names:
        only = f"implementations to measure (default: {shlex.join(names)})"
        parser.add_argument("--only", nargs="+", type=known, default=names, metavar="NAME", help=only)
    return parser


def parse(parser: argparse.ArgumentParser, words: Sequence[str] | None = None) -> argparse.Namespace:
    """The options of a benchmark. Raises UserError, before any measurement, where the output cannot be written."""
    arguments = parser.parse_args(words)
    check(arguments)
    return arguments


@contextmanager
def one_line_mistakes(name: str) -> Iterator[None]:
    """A user's mistake in the context ends `python -m bench.NAME` with one line; also a decorator of its main."""
    try:
        yield
    except UserError as error:
        raise SystemExit(f"bench.{name}: {error}") from None
    except OSError as error:
        raise SystemExit(": ".join(filter(None, (f"bench.{name}", error.filename, error.strerror)))) from None


def _count(word: str) -> int:
    number = int(word)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number}: must be at least 1")
    return number


def write(table: pd.DataFrame, path: Path | None) -> None:
    """Print `table` and, where there is a path, write it as CSV."""
    print(table.to_string(index=False, float_format="{:.3f}".format, na_rep=""))
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(path, index=False, float_format="%.4f", lineterminator="\n")
