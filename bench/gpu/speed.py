"""The speed of updates and of searches on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import product
from statistics import median
from typing import Any

import torch
from torch import nn

from bench import step
from bench.decode import BEAM
from bench.decode import prepare as prepare_search
from bench.eager import Eager
from bench.gpu.measurement import WARM_UP, Bench, Job, Row, words
from bench.machine import TYPES, durations, layer_sizes, product_rate, products_of_update
from nmt.settings.variant import Optimization
from nmt.training.parallel import Processes
from nmt.training.update import make_update


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
