"""The options of a benchmark, and the table that it prints and writes."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd


def make_parser(name: str, description: str | None, rounds: int) -> argparse.ArgumentParser:
    """The parser of `python -m bench.NAME`: the number of rounds, by default `rounds`, and the output file."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=description)
    parser.add_argument(
        "--rounds", type=int, default=rounds, help="measurements of each contender (default: %(default)s)"
    )
    output = Path(f"results/bench/{name}.csv")
    parser.add_argument("--output", type=Path, default=output, help="CSV file (default: %(default)s)")
    return parser


def write(table: pd.DataFrame, path: Path) -> None:
    """Print `table` and write it as CSV."""
    print(table.to_string(index=False, float_format="{:.3f}".format, na_rep=""))
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False, float_format="%.4f", lineterminator="\n")
