"""Measure where an update of the paper's RNNsearch spends its time on a CPU: matrix products and all other operators.

Writes the seconds of each part and its share of an update on sentences of 20 words, from the time that PyTorch's
profiler attributes to each operator itself. The matrix products are a lower limit: no implementation can avoid them.
"""

from __future__ import annotations

from collections import Counter

import pandas as pd
import torch
from torch.profiler import ProfilerActivity, profile

from bench.machine import name
from bench.table import make_parser, one_line_mistakes, parse, write
from bench.train import WARM_UP, made_up, our_update
from nmt.system.device import keep_memory

PARTS = {
    "matrix products": ("mm", "addmm", "bmm", "mv", "addmv"),
    "softmax": ("_softmax", "amax", "max", "sum", "log"),
    "sigmoid": ("sigmoid_", "sigmoid"),
    "conversion and copying": ("copy_", "cat", "stack", "fill_", "index_select", "index_put_", "constant_pad_nd"),
}
OPTIMIZER, REST = "optimizer", "other elementwise operators"


def measure(precision: str, updates: int) -> pd.DataFrame:
    """The parts of an update, averaged over `updates`."""
    device = torch.device("cpu")
    update, batch = our_update(device, precision), made_up(20, 20)
    part_of = {f"aten::{operator}": part for part, operators in PARTS.items() for operator in operators}
    seconds: Counter[str] = Counter()
    for turn in range(WARM_UP + updates):
        with profile(activities=[ProfilerActivity.CPU]) as gradient:
            update.differentiate(update.cost(batch))
        with profile(activities=[ProfilerActivity.CPU]) as step:
            update.optimizer.step()
        if turn >= WARM_UP:
            for event in gradient.key_averages():
                seconds[part_of.get(event.key, REST)] += event.self_cpu_time_total / 1e6 / updates
            seconds[OPTIMIZER] += sum(event.self_cpu_time_total for event in step.key_averages()) / 1e6 / updates
    rows = [
        {"device": name(device), "precision": precision, "part": part, "seconds": seconds[part]}
        for part in [*PARTS, REST, OPTIMIZER]
    ]
    return pd.DataFrame(rows).assign(share=lambda table: table.seconds / table.seconds.sum())


@one_line_mistakes("profile")
def main() -> None:
    arguments = parse(make_parser("profile", __doc__, rounds=5))
    keep_memory()
    write(pd.concat([measure(precision, arguments.rounds) for precision in ("float32", "bf16")]), arguments.output)


if __name__ == "__main__":
    main()
