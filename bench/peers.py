"""Measure an update and beam search in JoeyNMT, OpenNMT-py, Marian and this project, on the CPU in float32.

All have the paper's layer sizes and sentences of 20 words, EOS counted. An update takes 80 pairs; beam search
translates 16 sentences at a time, and one at a time, with a beam of 12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import torch

import nmt
from bench.machine import name
from bench.table import make_parser, one_line_mistakes, parse, write
from bench.turns import command, medians_of

OURS = "ours"
MARIAN = "Marian"
PEERS = {"JoeyNMT": "joeynmt", "OpenNMT-py": "OpenNMT-py", MARIAN: "pymarian"}  # and their packages
PINS = Path("bench/peers.txt")
LENGTHS = (20, 20)
BATCHES = (("train", 80), ("decode", 16), ("decode", 1))
BEAM = 12
WARM_UP = {"train": 4, "decode": 2}


def versions() -> dict[str, str]:
    """The version of this project, and those of the peers, from their pins."""
    pins = dict(line.split("==") for line in PINS.read_text().split("\n") if "==" in line)
    return {OURS: nmt.__version__, **{peer: pins[package] for peer, package in PEERS.items()}}


def contender(implementation: str, task: str, batch: int, python: str) -> list[str]:
    """The command that runs ours, that of `bench.train` or `bench.decode`, or a peer with `python`."""
    ours: dict[str, object] = {"implementation": OURS, "device_name": "cpu"}
    theirs: dict[str, object] = {"task": task, "batch": batch, "beam": BEAM}
    if implementation == MARIAN:
        return command("bench.marian", theirs, python)
    if implementation != OURS:
        return command("bench.contender", {"implementation": implementation, **theirs}, python)
    if task == "train":
        return command("bench.train", {**ours, "precision": "float32", "lengths": LENGTHS, "data": None})
    return command("bench.decode", {**ours, "batch": batch})


def measure(task: str, batch: int, only: Sequence[str], python: str, rounds: int) -> pd.DataFrame:
    """A row for each implementation; ratio_to_ours compares speeds."""
    commands = [contender(implementation, task, batch, python) for implementation in only]
    results = medians_of(commands, rounds, WARM_UP[task])
    speeds = [figures.get("sentences_per_second") or 1 / figures["seconds"] for figures in results]
    ours = dict(zip(only, speeds, strict=True)).get(OURS, math.nan)
    return pd.DataFrame(
        {
            "device": name(torch.device("cpu")),
            "implementation": implementation,
            "version": versions()[implementation],
            "task": task,
            "batch": batch,
            "seconds": figures.get("seconds", math.nan),
            "sentences_per_second": figures.get("sentences_per_second", math.nan),
            "ratio_to_ours": speed / ours,
        }
        for implementation, figures, speed in zip(only, results, speeds, strict=True)
    )


@one_line_mistakes("peers")
def main() -> None:
    parser = make_parser("peers", __doc__, rounds=7, contenders=(OURS, *PEERS))
    parser.add_argument(
        "--python",
        default=".venv-peers/bin/python",
        help="interpreter of the peers' environment (default: %(default)s)",
    )
    arguments = parse(parser)
    if not Path(arguments.python).exists():
        raise SystemExit(f"bench.peers: {arguments.python}: no such interpreter; make bench-peers makes one")
    tables = [measure(task, batch, arguments.only, arguments.python, arguments.rounds) for task, batch in BATCHES]
    write(pd.concat(tables), arguments.output)


if __name__ == "__main__":
    main()
