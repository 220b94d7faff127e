"""Fair comparison: contenders run in processes of their own and are measured one at a time, in rotating order.

Separate processes have separate memory. Taking turns spreads a change in the machine's speed over all contenders.
"""

from __future__ import annotations

import importlib
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from statistics import median

Figures = dict[str, float]


def serve(module: str, job: str) -> None:
    """Run as a contender: make the measurement that the module's `prepare(**job)` returns, once for each input line."""
    measure: Callable[[], Figures] = importlib.import_module(module).prepare(**json.loads(job))
    print("ready", flush=True)
    for _ in sys.stdin:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(json.dumps({"peak_mb": peak, **measure()}), flush=True)


def command(module: str, job: Mapping[str, object], python: str = sys.executable) -> list[str]:
    """The command that runs `serve(module, job)` with this interpreter or with that of another environment."""
    return [python, "-m", "bench.turns", module, json.dumps(job)]


def medians(module: str, jobs: Sequence[Mapping[str, object]], rounds: int, warm_up: int) -> list[Figures]:
    """The median figures of each job of one module over `rounds` turns, after `warm_up` turns that do not count."""
    return medians_of([command(module, job) for job in jobs], rounds, warm_up)


def medians_of(commands: Sequence[list[str]], rounds: int, warm_up: int) -> list[Figures]:
    """The median figures of each contender over `rounds` turns, after `warm_up` turns that do not count."""
    with ExitStack() as stack:
        contenders = []
        for words in commands:
            contender = stack.enter_context(
                subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(contender.kill)
            contenders.append(contender)
            _answer(contender)
        measured: list[list[Figures]] = [[] for _ in commands]
        for turn in range(warm_up + rounds):
            for place in range(len(commands)):
                number = (place + turn) % len(commands)
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


if __name__ == "__main__":
    serve(*sys.argv[1:])
