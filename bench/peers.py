"""Measure an update and beam search in JoeyNMT, OpenNMT-py and this project, on the CPU in float32.

All have the paper's layer sizes and sentences of 20 words, EOS counted. An update takes 80 pairs; beam search
translates 16 sentences at a time with a beam of 12.
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import pandas as pd
import torch

from bench.machine import name
from bench.table import make_parser, write
from bench.turns import command, medians_of

OURS = "ours"
PEERS = ("JoeyNMT", "OpenNMT-py")
PINS = Path("bench/peers.txt")
LENGTHS = (20, 20)
BATCH = {"train": 80, "decode": 16}
BEAM = 12
WARM_UP = {"train": 4, "decode": 2}


def versions() -> list[str]:
    """The version of this project, from pyproject.toml, and those of the peers, from their pins."""
    ours = tomllib.loads(Path("pyproject.toml").read_text())["project"]["version"]
    pins = dict(line.lower().split("==") for line in PINS.read_text().split("\n") if "==" in line)
    return [ours, *(pins[peer.lower()] for peer in PEERS)]


def commands(task: str, python: str) -> list[list[str]]:
    """The commands that run our contender, that of `bench.train` or `bench.decode`, and the peers with `python`."""
    job: dict[str, object] = {"implementation": OURS, "device_name": "cpu"}
    if task == "train":
        ours = command("bench.train", {**job, "precision": "float32", "lengths": LENGTHS, "data": None})
    else:
        ours = command("bench.decode", {**job, "batch": BATCH[task]})
    peers = [
        command("bench.contender", {"implementation": peer, "task": task, "batch": BATCH[task], "beam": BEAM}, python)
        for peer in PEERS
    ]
    return [ours, *peers]


def measure(task: str, python: str, rounds: int) -> pd.DataFrame:
    """A row for each implementation; ratio_to_ours compares speeds."""
    results = medians_of(commands(task, python), rounds, WARM_UP[task])
    speeds = [figures.get("sentences_per_second") or 1 / figures["seconds"] for figures in results]
    return pd.DataFrame(
        {
            "device": name(torch.device("cpu")),
            "implementation": implementation,
            "version": version,
            "task": task,
            "seconds": figures.get("seconds", math.nan),
            "sentences_per_second": figures.get("sentences_per_second", math.nan),
            "ratio_to_ours": speed / speeds[0],
        }
        for implementation, version, figures, speed in zip((OURS, *PEERS), versions(), results, speeds, strict=True)
    )


def main() -> None:
    parser = make_parser("peers", __doc__, rounds=7)
    parser.add_argument(
        "--python",
        default=".venv-peers/bin/python",
        help="interpreter of the peers' environment (default: %(default)s)",
    )
    arguments = parser.parse_args()
    if not Path(arguments.python).exists():
        raise SystemExit(f"bench.peers: {arguments.python}: no such interpreter; make bench-peers makes one")
    table = pd.concat([measure(task, arguments.python, arguments.rounds) for task in BATCH])
    write(table, arguments.output)


if __name__ == "__main__":
    main()
