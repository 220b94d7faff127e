"""Fair turns: each contender in a process of its own, one measurement at a time, in an order that rotates.

A process apart keeps memory apart; turns let a change of the machine's speed meet all contenders alike.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from statistics import median

Figures = dict[str, float]


def serve(job: str, prepare: Callable[..., Callable[[], Figures]]) -> None:
    """Be a contender: `prepare(**job)` gives what one measurement is; make one for every line of standard input."""
    measure = prepare(**json.loads(job))
    print("ready", flush=True)
    for _ in sys.stdin:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(json.dumps({"peak_mb": peak, **measure()}), flush=True)


def medians(module: str, jobs: Sequence[dict[str, object]], rounds: int, warm_up: int) -> list[Figures]:
    """The median figures of every job, each run by `python -m module --job JSON`, over `rounds` after `warm_up`."""
    with ExitStack() as stack:
        contenders = []
        for job in jobs:
            command = [sys.executable, "-m", module, "--job", json.dumps(job)]
            contender = stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(contender.kill)
            contenders.append(contender)
            _answer(contender)
        measured: list[list[Figures]] = [[] for _ in jobs]
        for turn in range(warm_up + rounds):
            for place in range(len(jobs)):
                number = (place + turn) % len(jobs)
                contender = contenders[number]
                assert contender.stdin is not None
                print("measure", file=contender.stdin, flush=True)
                figures = json.loads(_answer(contender))
                if turn >= warm_up:
                    measured[number].append(figures)
    return [{name: median(turn[name] for turn in turns) for name in turns[0]} for turns in measured]


def _answer(contender: subprocess.Popen[str]) -> str:
    assert contender.stdout is not None
    line = contender.stdout.readline()
    if not line:
        raise SystemExit(f"{' '.join(map(str, contender.args))}: ended early; see above")  # type: ignore[arg-type]
    return line
