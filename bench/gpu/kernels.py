"""Where the time of an update on a GPU goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from statistics import median

import torch
from torch.autograd import DeviceType  # type: ignore[attr-defined]
from torch.profiler import ProfilerActivity, profile

from bench.gpu.measurement import Bench, Job, Row, words
from bench.machine import durations
from nmt.search.replay import captured
from nmt.settings.variant import Optimization
from nmt.training.update import Update

PROFILED = 3  # updates
KERNELS = 20
NAME = 60  # characters of a kernel's name


def kernels(bench: Bench) -> Iterator[Job]:
    """The kernels of a bf16 update, longest first; the updates run operation by operation."""
    for lengths in bench.lengths:
        yield Job({"words": words(lengths)}, partial(profiled, bench, lengths))


def profiled(bench: Bench, lengths: tuple[int, int]) -> list[Row]:
    """A row for all kernels, or operators on a CPU, and one for each of the longest."""
    update = Update(bench.network(), Optimization(updates=1, precision="bf16"), bench.device)
    batch = bench.random_batch(lengths)
    update(batch)
    with profile(activities=[ProfilerActivity.CUDA if bench.gpu else ProfilerActivity.CPU]) as record:
        for _ in range(PROFILED):
            update(batch)
        if bench.gpu:
            torch.cuda.synchronize(bench.device)
    kind = DeviceType.CUDA if bench.gpu else DeviceType.CPU
    rows = [
        {
            "ms": (event.self_device_time_total if bench.gpu else event.self_cpu_time_total) / 1e3 / PROFILED,
            "calls": event.count / PROFILED,
            "kernel": event.key[:NAME],
        }
        for event in record.key_averages()
        if event.device_type == kind and not event.key.startswith("Optimizer.")  # a span that covers its kernels
    ]
    whole = {"ms": sum(row["ms"] for row in rows), "calls": sum(row["calls"] for row in rows), "kernel": "all"}
    return [whole, *sorted(rows, key=lambda row: -row["ms"])[:KERNELS]]


def parts(bench: Bench) -> Iterator[Job]:
    """Milliseconds of the parts of a bf16 update, each captured alone on a GPU."""
    lengths = bench.lengths[-1]

    def measure(part: str) -> list[Row]:
        update = Update(bench.network(), Optimization(updates=1, precision="bf16"), bench.device)
        batch = bench.random_batch(lengths)
        update(batch)
        work: Callable[[], object] = {
            "forward": lambda: update.cost(batch),
            "forward and backward": lambda: update.differentiate(update.cost(batch)),
            "optimizer": update.optimizer.step,
        }[part]
        run = captured(work, bench.device) if bench.gpu else work
        run()
        return [{"ms": 1e3 * median(durations(bench.device, run, bench.repeats))}]

    for part in ("forward", "forward and backward", "optimizer"):
        yield Job({"part": part, "words": words(lengths)}, partial(measure, part))
