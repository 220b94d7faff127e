"""Measure an update of the paper's RNNsearch beside a plain version of the same equations, of AttY and AttY2D, and of
the small models of the demonstration and of the run on real text, on one thread.

Writes seconds an update and their parts, target words per second, the speed relative to the plain version, the fraction
of the time that the matrix products alone would take at the rate of PyTorch's own products, and peak memory.
machine.csv, which `python -m bench.machine` writes without the rest, has that rate.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from itertools import cycle, pairwise
from pathlib import Path

import pandas as pd
import torch

from bench.eager import Eager, randomized
from bench.machine import HEAP_KEPT, MODELS, SYMBOLS, name, products_of_update, rates
from bench.table import make_parser, one_line_mistakes, parse, write
from bench.turns import Figures, medians
from nmt.corpora.binarize import Bitext
from nmt.model.initialization import initialize
from nmt.model.network import Network
from nmt.settings.variant import Optimization
from nmt.system.device import choose_device, keep_memory
from nmt.training.batches import Batch, Batches
from nmt.training.parallel import Processes
from nmt.training.update import Update, make_update

BATCH = 80
LENGTHS = ((20, 20), (50, 50))
PLAIN = "RNNsearch"  # the model that has a plain version
# Model, implementation and precision of those that take turns; all at once would not fit in memory.
GROUPS = (
    (
        (PLAIN, "eager", "float32"),
        (PLAIN, f"eager{HEAP_KEPT}", "float32"),
        (PLAIN, "torch.compile", "float32"),
        (PLAIN, "ours", "float32"),
        (PLAIN, "ours", "bf16"),
    ),
    (
        ("AttY", "ours", "float32"),
        ("AttY2D", "ours", "float32"),
        ("AttY", "ours", "bf16"),
        ("AttY2D", "ours", "bf16"),
    ),
    (
        ("RNNsearch, demo", "ours", "float32"),
        ("RNNsearch, open", "ours", "float32"),
    ),
)
UPDATES_A_TURN = 20  # on a GPU
WARM_UP = 2


def made_up(source_words: int, target_words: int, symbols: int = SYMBOLS, size: int = BATCH) -> Batch:
    """A batch of random sentences of these lengths, EOS counted; word frequencies follow Zipf's law."""
    generator = torch.Generator().manual_seed(1)
    frequency = 1.0 / torch.arange(1, symbols, dtype=torch.float64)
    sides = []
    for length in (source_words, target_words):
        ids = 1 + torch.multinomial(frequency, size * length, replacement=True, generator=generator)
        sides += [ids.view(size, length), torch.ones(size, length, dtype=torch.bool)]
    return Batch(*sides)


def batches_for(lengths: tuple[int, int] | None, data: str | None, symbols: int = SYMBOLS) -> list[Batch]:
    """One random batch of these lengths, or 20 batches of a binarized text where `lengths` is None."""
    if lengths is not None:
        return [made_up(*lengths, symbols)]
    assert data is not None
    window = Batches(Bitext(Path(data)), maximum_length=50, size=BATCH, sort_batches=20)
    return [window[number] for number in range(20)]


def our_update(
    device: torch.device, precision: str = "float32", model: str = PLAIN, processes: Processes | None = None
) -> Update:
    """The update of one of MODELS, which has its initial weights."""
    architecture, symbols, _, optimizer = MODELS[model]
    optimization = Optimization(updates=1, seed=1, precision=precision, optimizer=optimizer)
    network = Network(architecture, symbols, symbols)
    initialize(network, optimization)
    return make_update(network.to(device), optimization, device, processes or Processes())


def prepare(
    implementation: str,
    precision: str,
    device_name: str,
    lengths: tuple[int, int] | None,
    data: str | None,
    model: str = PLAIN,
) -> Callable[[], Figures]:
    """A function that measures this implementation once: seconds an update, and of its parts on a CPU."""
    device, (_, symbols, threads, _) = torch.device(device_name), MODELS[model]
    torch.set_num_threads(threads or torch.get_num_threads())
    if implementation == "ours" or implementation.endswith(HEAP_KEPT):
        keep_memory()
    batches = cycle([batch.to(device) for batch in batches_for(lengths, data, symbols)])
    cost: Callable[[Batch], torch.Tensor]
    differentiate: Callable[[torch.Tensor], None]
    step: Callable[[], object]
    if implementation == "ours":
        update = our_update(device, precision, model)
        cost, differentiate, step = update.cost, update.differentiate, update.optimizer.step
    else:
        plain = randomized(Eager(SYMBOLS).to(device))
        plain_optimizer = torch.optim.Adadelta(plain.parameters(), 1.0, 0.95, 1e-6)
        compiled = torch.compile(plain) if implementation == "torch.compile" else plain

        def plain_cost(batch: Batch) -> torch.Tensor:
            return compiled(*batch)

        def plain_differentiate(loss: torch.Tensor) -> None:
            plain_optimizer.zero_grad(set_to_none=True)
            loss.backward()

        def plain_step() -> None:
            torch.nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
            plain_optimizer.step()

        cost, differentiate, step = plain_cost, plain_differentiate, plain_step

    def in_parts() -> Figures:
        differentiate(cost(next(batches)))  # an update that is not measured fills the caches, as in training
        step()
        marks = [time.perf_counter()]
        loss = cost(next(batches))
        marks.append(time.perf_counter())
        differentiate(loss)
        marks.append(time.perf_counter())
        step()
        marks.append(time.perf_counter())
        parts = [end - begin for begin, end in pairwise(marks)]
        return {"seconds": sum(parts), "forward": parts[0], "backward": parts[1], "optimizer": parts[2]}

    def by_events() -> Figures:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(UPDATES_A_TURN):
            if implementation == "ours":
                update(next(batches))
            else:
                differentiate(cost(next(batches)))
                step()
        end.record()
        end.synchronize()
        seconds = begin.elapsed_time(end) / 1e3 / UPDATES_A_TURN
        return {"seconds": seconds, "peak_mb": torch.cuda.max_memory_allocated(device) / 1e6}

    return by_events if device.type == "cuda" else in_parts


def measure(
    device: torch.device,
    group: Sequence[tuple[str, str, str]],
    lengths: tuple[int, int] | None,
    data: str | None,
    rounds: int,
) -> pd.DataFrame:
    """The rows of a group for one pair of lengths, or for the text in `data` where `lengths` is None."""
    contenders = [
        one for one in group if device.type == "cpu" or not (one[1].endswith(HEAP_KEPT) or MODELS[one[0]].threads)
    ]
    if lengths is None:  # the ids of a text are those of the paper's sizes
        contenders = [one for one in contenders if MODELS[one[0]].symbols == SYMBOLS]
    if not contenders:
        return pd.DataFrame()
    same: dict[str, object] = {"device_name": device.type, "lengths": lengths, "data": data}
    jobs = [
        {"model": model, "implementation": one, "precision": precision, **same} for model, one, precision in contenders
    ]
    results = medians("bench.train", jobs, rounds, WARM_UP)
    batches = batches_for(lengths, data)
    masks = [(batch.source_mask, batch.target_mask) for batch in batches]
    source, target = (sum(int(pair[side].sum()) for pair in masks) / len(masks) for side in range(2))
    plain = results[0]["seconds"] if contenders[0][1] == "eager" else math.nan
    rows = []
    for (model, one, precision), figures in zip(contenders, results, strict=True):
        architecture, symbols, threads, _ = MODELS[model]
        products = products_of_update(symbols, BATCH, source / BATCH, target / BATCH, architecture)
        rows.append(
            {
                "device": name(device, threads),
                "model": model,
                "precision": precision,
                "implementation": one,
                "source_words": round(source / BATCH, 1),
                "target_words": round(target / BATCH, 1),
                **{part: figures.get(part) for part in ("seconds", "forward", "backward", "optimizer")},
                "target_words_per_second": target / figures["seconds"],
                "ratio_to_eager": plain / figures["seconds"] if model == PLAIN else None,
                "floor_fraction": products / figures["seconds"],  # FLOP/s; `main` divides them by the device's rate
                "peak_mb": figures["peak_mb"],
            }
        )
    return pd.DataFrame(rows)


@one_line_mistakes("train")
def main() -> None:
    parser = make_parser("train", __doc__, rounds=5, contenders=(one for group in GROUPS for _, one, _ in group))
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"), help="where to compute (auto)")
    parser.add_argument("--data", metavar="FOLDER", help="also measure batches of this binarized text")
    arguments = parse(parser)
    device = choose_device(arguments.device)
    if arguments.data:
        Bitext(Path(arguments.data))  # a mistake is found before anything is measured
    lengths: list[tuple[int, int] | None] = [*LENGTHS, *([None] if arguments.data else [])]
    groups = [[one for one in group if one[1] in arguments.only] for group in GROUPS]
    tables = [
        measure(device, group, pair, arguments.data, arguments.rounds) for pair in lengths for group in groups if group
    ]
    table = pd.concat(tables)
    machine = rates(device)
    own = machine.set_index(["device", "precision"])["gflop_per_second"]
    table["floor_fraction"] /= [1e9 * own[key] for key in zip(table["device"], table["precision"], strict=True)]
    write(machine, arguments.output.with_name("machine.csv"))
    write(table, arguments.output)


if __name__ == "__main__":
    main()
