"""Measure a GPU in a few minutes: whether it computes what the equations say, how fast, and where the time goes.

Sections run in order of importance within a time limit. Each prints its table when it ends. The JSON file is written
after every measurement, so that a killed run leaves its results so far. A failed measurement is reported and the rest
continue; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import platform
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from statistics import median
from typing import Any, NamedTuple

import pandas as pd
import torch
from torch import Tensor, nn
from torch.autograd import DeviceType  # type: ignore[attr-defined]
from torch.profiler import ProfilerActivity, profile

from bench import step
from bench.decode import BEAM
from bench.decode import prepare as prepare_search
from bench.eager import Eager, Model
from bench.machine import PAPER, SYMBOLS, TYPES, durations, layer_sizes, name, product_rate, products_of_update
from bench.table import one_line_mistakes, parse
from bench.train import BATCH, LENGTHS, made_up
from nmt.corpora.shortlist import EOS
from nmt.model.network import Network
from nmt.search.replay import captured
from nmt.settings.variant import Architecture, Optimization
from nmt.system.device import choose_device
from nmt.system.options import Output
from nmt.system.text import write_json
from nmt.training.batches import Batch
from nmt.training.parallel import Processes
from nmt.training.update import BUCKET, Update, make_update

ATTENTIONS = {"RNNsearch": "additive", "RNNencdec": "fixed"}
WARM_UP = 3  # a shape's first update runs operation by operation, its second is captured, its third replayed
PROFILED = 3  # updates
KERNELS = 20
NAME = 60  # characters of a kernel's name

Row = dict[str, Any]


class Job(NamedTuple):
    """A measurement: what tells it from the others of its section, and the function that makes it."""

    labels: Row
    measure: Callable[[], list[Row]]


@dataclass(frozen=True)
class Bench:
    """What is measured, and where: the paper's sizes, unless others are given."""

    device: torch.device
    architecture: Architecture = PAPER
    symbols: int = SYMBOLS
    batch: int = BATCH
    lengths: tuple[tuple[int, int], ...] = LENGTHS
    searched: tuple[int, ...] = (1, 32, 128)  # sentences at a time
    repeats: int = 20
    product: int | None = None  # rows of the matrices whose product gives the rate of products

    @property
    def gpu(self) -> bool:
        """Whether the device is a GPU, on which updates are recorded as graphs."""
        return self.device.type == "cuda"

    def network(self, kind: str = "RNNsearch", implementation: str = "fast", unit: str = "gated") -> Network:
        """A model of this kind with random weights, the same every time."""
        architecture = replace(self.architecture, attention=ATTENTIONS[kind], unit=unit)
        return self.randomized(Network(architecture, self.symbols, self.symbols, implementation))

    def randomized(self, model: Model) -> Model:
        """`model` on the device, with random weights that depend on nothing but their order."""
        model = model.to(self.device)
        generator = torch.Generator(self.device).manual_seed(1)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(std=0.03, generator=generator)
        return model

    def random_batch(self, lengths: tuple[int, int]) -> Batch:
        """Full sentences of these lengths, EOS counted."""
        return made_up(*lengths, self.symbols, self.batch).to(self.device)

    def small_batch(self, shift: int = 0) -> Batch:
        """8 pairs of 8 to 16 words, 12 on average; another `shift` gives other words in the same shape."""
        batch = made_up(2 * BUCKET, 2 * BUCKET, self.symbols, 8)
        lengths = torch.tensor([8, 9, 10, 11, 13, 14, 15, 16])
        parts = []
        for ids, order in ((batch.source, lengths), (batch.target, lengths.roll(3))):
            mask = torch.arange(ids.shape[1]) < order.unsqueeze(1)
            parts += [ids.roll(shift, 0).masked_fill(~mask, EOS), mask]
        return Batch(*parts).to(self.device)


def versions(bench: Bench) -> Iterator[Job]:
    """The machine and its software."""

    def measure() -> list[Row]:
        row: Row = {
            "device": name(bench.device),
            "cores": os.cpu_count(),
            "Python": platform.python_version(),
            "torch": torch.__version__,
            "without": os.environ.get("NMT_WITHOUT", ""),
        }
        if bench.gpu:
            properties = torch.cuda.get_device_properties(bench.device)
            row |= {
                "Triton": triton_version(),
                "CUDA": torch.version.cuda,
                "driver": driver(),
                "GiB": properties.total_memory / 2**30,
                "capability": f"{properties.major}.{properties.minor}",
                "processors": properties.multi_processor_count,
            }
        return [row]

    yield Job({}, measure)


def triton_version() -> str | None:
    try:
        return version("triton")
    except PackageNotFoundError:
        return None


def driver() -> str | None:
    """The version of the GPU's driver; None where nvidia-smi cannot tell."""
    asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def check(bench: Bench) -> Iterator[Job]:
    """The fast model beside the readable one in float64, cuDNN's LSTM beside ours, and captured updates and steps of a
    search beside ones operation by operation.
    """
    for kind in ATTENTIONS:
        labels = {"model": kind, "of": "fast, readable", "precision": "float64"}
        yield Job(labels, partial(fast_or_readable, bench, kind))
    for kind, precision in product(ATTENTIONS, TYPES):
        labels = {"model": kind, "of": "graphs, none", "precision": precision}
        yield Job(labels, partial(graphs_or_none, bench, kind, precision))
    yield Job({"model": "LSTM encoder", "of": "cuDNN, loop", "precision": "float32"}, partial(cudnn_or_loop, bench))
    for precision, batch in product(TYPES, bench.searched):
        labels = {"model": "RNNsearch", "of": f"replayed search, plain, batch {batch}", "precision": precision}
        yield Job(labels, partial(replayed_or_plain, bench, precision, batch))


def cudnn_or_loop(bench: Bench) -> list[Row]:
    """How far the annotations of an LSTM encoder are apart, relative to the largest; on a CPU both are the loop's."""
    one, other = (read() for read in step.encoders(bench.network(unit="lstm"), bench.batch).values())
    return [{"apart": distance(one, other, other)}]


def replayed_or_plain(bench: Bench, precision: str, batch: int) -> list[Row]:
    """How many continuations of recorded steps of a search differ."""
    if not bench.gpu:
        return [{"where": "no graphs on a CPU"}]
    model = bench.network()
    model.freeze(precision)
    apart = step.replayed_apart(model, batch)
    return [{"apart": float(apart), "same": apart == 0}]


def fast_or_readable(bench: Bench, kind: str) -> list[Row]:
    """How far the costs and the gradients are apart, relative to the largest number of a gradient."""
    batch, costs, gradients = bench.small_batch(), [], []
    for implementation in ("fast", "readable"):
        model = bench.network(kind, implementation).double()
        cost = model.summed_nll(*batch)
        cost.backward()
        costs.append(cost.item())
        gradients.append(
            {path: parameter.grad for path, parameter in model.named_parameters() if parameter.grad is not None}
        )
    fast, readable = gradients
    apart = {path: distance(fast[path], readable[path], readable[path]) for path in readable}
    worst = max(apart, key=lambda path: apart[path])
    return [{"cost": costs[0], "cost_apart": abs(costs[0] / costs[1] - 1), "apart": apart[worst], "where": worst}]


def graphs_or_none(bench: Bench, kind: str, precision: str) -> list[Row]:
    """How far parameters with and without graphs are apart after the same updates, relative to how far they moved."""
    if not bench.gpu:
        return [{"where": "no graphs on a CPU"}]
    optimization = Optimization(updates=1, precision=precision)
    batches = [bench.small_batch()] * WARM_UP + [bench.small_batch(shift=1)]
    begin = {path: parameter.detach().clone() for path, parameter in bench.network(kind).named_parameters()}
    models = [bench.network(kind) for _ in range(2)]
    updates = [
        make_update(models[0], optimization, bench.device, Processes()),
        Update(models[1], optimization, bench.device),
    ]
    costs = [[update(batch)[0].item() for batch in batches] for update in updates]
    graphed, plain = (dict(model.named_parameters()) for model in models)
    apart = {path: distance(graphed[path], plain[path], plain[path] - begin[path]) for path in begin}
    worst = max(apart, key=lambda path: apart[path])
    cost_apart = max(abs(one / other - 1) for one, other in zip(*costs, strict=True))
    same = all(torch.equal(graphed[path], plain[path]) for path in begin)
    graphs = len(getattr(updates[0], "graphs", ()))  # none where the capture has failed or is switched off
    row = {"cost": costs[0][-1], "cost_apart": cost_apart, "apart": apart[worst], "same": same, "where": worst}
    return [{**row, "graphs": graphs}]


def distance(one: Tensor, other: Tensor, scale: Tensor) -> float:
    """The largest difference, relative to the largest number of `scale`; infinite if a number is not finite."""
    largest = (one - other).abs().max()
    relative = largest / scale.abs().max()
    return float(relative.nan_to_num(nan=math.inf, posinf=math.inf)) if largest != 0 else 0.0


def updates(bench: Bench) -> Iterator[Job]:
    """Seconds an update: ours with either optimizer, and the plain baseline."""
    rate = cache(lambda precision: product_rate(bench.device, TYPES[precision], bench.product))
    kinds = [("ours", "bf16", "adadelta"), ("ours", "float32", "adadelta"), ("ours", "bf16", "adam")]
    kinds += [("eager", precision, "adadelta") for precision in TYPES]
    for (implementation, precision, optimizer), lengths in product(kinds, bench.lengths):
        labels = {"implementation": implementation, "precision": precision, "optimizer": optimizer}
        labels["words"] = words(lengths)
        prepare = partial(ours if implementation == "ours" else plain, bench, precision, optimizer, lengths)
        yield Job(labels, partial(speed, bench, lengths, prepare, partial(rate, precision)))


def ours(bench: Bench, precision: str, optimizer: str, lengths: tuple[int, int]) -> Callable[[], object]:
    """A function that updates our model."""
    learning_rate = 1.0 if optimizer == "adadelta" else 1e-4
    optimization = Optimization(updates=1, precision=precision, optimizer=optimizer, learning_rate=learning_rate)
    return partial(make_update(bench.network(), optimization, bench.device, Processes()), bench.random_batch(lengths))


def plain(bench: Bench, precision: str, optimizer: str, lengths: tuple[int, int]) -> Callable[[], object]:
    """A function that updates the plain baseline, under autocast for bf16."""
    assert optimizer == "adadelta"
    model = bench.randomized(Eager(bench.symbols, *layer_sizes(bench.architecture)))
    adadelta, batch = torch.optim.Adadelta(model.parameters(), 1.0, 0.95, 1e-6), bench.random_batch(lengths)

    def update() -> None:
        adadelta.zero_grad(set_to_none=True)
        with torch.autocast(bench.device.type, torch.bfloat16, enabled=precision == "bf16"):
            cost = model(*batch)
        cost.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adadelta.step()

    return update


def speed(
    bench: Bench, lengths: tuple[int, int], prepare: Callable[[], Callable[[], object]], rate: Callable[[], float]
) -> list[Row]:
    """The time of an update, its words per second, and the share that its matrix products take at their full rate."""
    products = products_of_update(bench.symbols, bench.batch, *lengths, bench.architecture) / rate()
    update = prepare()
    for _ in range(WARM_UP):
        update()
    seconds = median(durations(bench.device, update, bench.repeats))
    row = {
        "ms": 1e3 * seconds,
        "words_per_second": bench.batch * lengths[1] / seconds,
        "products_share": products / seconds,
        "product_tflops": rate() / 1e12,
    }
    if bench.gpu:
        row["peak_gb"] = torch.cuda.max_memory_allocated(bench.device) / 1e9
    return [row]


def beam(bench: Bench) -> Iterator[Job]:
    """Sentences of 20 words that a search of width 12 translates in a second."""
    contenders = (("ours", "float32"), ("ours", "bf16"), ("eager", "float32"))
    for (implementation, precision), batch in product(contenders, bench.searched):
        job = (implementation, bench.device.type, batch, precision, bench.architecture, bench.symbols)

        def measure(job: tuple[Any, ...] = job) -> list[Row]:
            turn = prepare_search(*job)
            turn()
            return [{"sentences_per_second": median(turn()["sentences_per_second"] for _ in range(3))}]

        yield Job({"implementation": implementation, "precision": precision, "beam": BEAM, "batch": batch}, measure)


def steps(bench: Bench) -> Iterator[Job]:
    """Milliseconds of a step of a search and of its summary of the words, and of an LSTM encoder; "plain" is what each
    replaces on a GPU: operations one by one, PyTorch's, and our loop.
    """

    def timed(parts: Mapping[str, Callable[[], object]]) -> list[Row]:
        rows = []
        for part, work in parts.items():
            work()
            rows.append({"part": part, "ms": 1e3 * median(durations(bench.device, work, bench.repeats))})
        return rows

    def measure(precision: str, batch: int) -> list[Row]:
        model = bench.network()
        model.freeze(precision)
        with torch.no_grad():
            return timed(step.parts(model, batch))

    for precision, batch in product(TYPES, bench.searched):
        yield Job({"precision": precision, "batch": batch}, partial(measure, precision, batch))
    for batch in bench.searched:
        read = step.encoders(bench.network(unit="lstm"), batch)
        yield Job({"precision": "float32", "batch": batch}, partial(timed, read))


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


def words(lengths: tuple[int, int]) -> str:
    return "{}+{}".format(*lengths)


class Section(NamedTuple):
    """A section: its seconds on a GPU, first compilation included, and its measurements."""

    seconds: float
    jobs: Callable[[Bench], Iterator[Job]]


SECTIONS = {
    "versions": Section(5, versions),
    "check": Section(50, check),
    "update": Section(40, updates),
    "beam": Section(30, beam),
    "step": Section(20, steps),
    "profile": Section(20, kernels),
    "parts": Section(10, parts),
}


def measured(job: Job, device: torch.device) -> list[Row]:
    """The rows of a measurement, or one with the error that ended it."""
    gc.collect()
    try:
        if device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(device)
        rows = job.measure()
    except Exception as error:
        [line, *_] = "".join(traceback.format_exception_only(error)).splitlines()
        rows = [{"error": line, "traceback": traceback.format_exc()}]
    return [{**job.labels, **{key: in_json(value) for key, value in row.items()}} for row in rows]


def in_json(value: Any) -> Any:
    """`value`, or its name where JSON has no such number: nan, inf."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def show(title: str, section: Row) -> None:
    """Print a section: its table, its errors in lines of their own."""
    print(f"\n{title}: {section['status']}, {section['seconds']:.0f} s", flush=True)
    good = [row for row in section["rows"] if "error" not in row]
    if good:
        print(pd.DataFrame(good).to_string(index=False, float_format="{:.4g}".format, na_rep=""), flush=True)
    for row in section["rows"]:
        if "error" in row:
            labels = ", ".join(str(value) for key, value in row.items() if key not in ("error", "traceback"))
            print(f"{labels}: {row['error']}", flush=True)


@one_line_mistakes("gpu")
def main(arguments: list[str] | None = None) -> int:
    begun = time.monotonic()
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    parser.add_argument("--minutes", type=float, default=3, help="time limit (default: %(default)s)")
    parser.add_argument("--only", nargs="+", default=list(SECTIONS), choices=SECTIONS, help="the sections to run (all)")
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"), help="where to compute (auto)")
    parser.add_argument("--dry-run", action="store_true", help="tiny sizes, which take seconds also on a CPU")
    output = Output("results/bench/gpu.json")
    parser.add_argument("--output", type=Output, default=output, help="JSON file (default: %(default)s)")
    chosen = parse(parser, arguments)
    bench = Bench(choose_device(chosen.device))
    if chosen.dry_run:
        tiny = replace(PAPER, embedding=6, hidden=8, alignment=7, maxout=5)
        lengths = ((3, 3), (5, 4))
        bench = Bench(bench.device, tiny, 50, batch=4, lengths=lengths, searched=(1, 2), repeats=2, product=64)
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    sections: dict[str, Row] = {}
    for title in [title for title in SECTIONS if title in chosen.only]:
        section: Row = {"status": "done", "seconds": 0.0, "rows": []}
        sections[title] = section
        started = time.monotonic()
        left = begun + 60 * chosen.minutes - started
        if left < SECTIONS[title].seconds:
            section["status"] = "skipped: no time"
        else:
            for job in SECTIONS[title].jobs(bench):
                if time.monotonic() - started > left:
                    section["status"] = "stopped: no time"
                    break
                section["rows"] += measured(job, bench.device)
                section["seconds"] = time.monotonic() - started
                write_json(chosen.output, {"dry_run": chosen.dry_run, "sections": sections})
        show(title, section)
    write_json(chosen.output, {"dry_run": chosen.dry_run, "sections": sections})
    return int(any("error" in row for section in sections.values() for row in section["rows"]))


if __name__ == "__main__":
    sys.exit(main())
