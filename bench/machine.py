"""Measure the rates of the machine's matrix products.

An update is compared with the rate of PyTorch's own products, which it uses. A trained model translates with weights
that are prepared once for oneDNN.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import pandas as pd
import torch

from bench.command import processor
from bench.table import make_parser, one_line_mistakes, parse, write
from nmt.model.products import Prepared
from nmt.monitor.forecast import pair_products
from nmt.settings.variant import Architecture
from nmt.system.device import choose_device

PAPER = Architecture(output_rank=None)  # the RNNsearch of Appendix A
ATT_Y = Architecture(  # that of Choi et al. (2017)
    alignment=2000,
    maxout=1000,
    output_rank=None,
    decoder_order="printed",
    embedding_bias=False,
    unit="lstm",
    score_previous=True,
    initial_state="mean",
)
SYMBOLS = 30_001
TYPES = {"float32": torch.float32, "bf16": torch.bfloat16}


class Model(NamedTuple):
    """A model whose updates are measured, its symbols on either side, and its number of threads (None: all)."""

    architecture: Architecture
    symbols: int = SYMBOLS
    threads: int | None = None
    optimizer: str = "adadelta"


MODELS = {
    "RNNsearch": Model(PAPER),
    "AttY": Model(ATT_Y),
    "AttY2D": Model(replace(ATT_Y, attention="fine_grained")),
    # Those of config/demo.yaml and config/open.yaml, which are trained one per core.
    "RNNsearch, demo": Model(replace(PAPER, embedding=96, hidden=128, alignment=128, maxout=64), 2001, 1, "adam"),
    "RNNsearch, open": Model(replace(PAPER, embedding=128, hidden=192, alignment=128, maxout=96), 8001, 1, "adam"),
}
HEAP_KEPT = ", heap kept"  # ends the name of a contender that keeps freed memory, as ours does (`keep_memory`)


def name(device: torch.device, threads: int | None = None) -> str:
    """The name of the GPU, or that of the CPU and the number of threads, PyTorch's unless given."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = threads or torch.get_num_threads()
    return f"{processor()}, {threads} thread{'s' if threads > 1 else ''}"


def now(device: torch.device) -> float:
    """The time in seconds, once the device has finished all its work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def durations(device: torch.device, work: Callable[[], object], repeats: int) -> list[float]:
    """The seconds of each of `repeats` calls of `work`; on a GPU by events, without waiting in between."""
    if device.type != "cuda":
        marks = [time.perf_counter()]
        for _ in range(repeats):
            work()
            marks.append(time.perf_counter())
        return [end - begin for begin, end in pairwise(marks)]
    events = [torch.cuda.Event(enable_timing=True) for _ in range(repeats + 1)]
    events[0].record()
    for event in events[1:]:
        work()
        event.record()
    events[-1].synchronize()
    return [begin.elapsed_time(end) / 1e3 for begin, end in pairwise(events)]


@torch.no_grad()
def product_rate(
    device: torch.device, dtype: torch.dtype, size: int | None = None, repeats: int = 20, prepared: bool = False
) -> float:
    """FLOP/s of a product of two square matrices: the best of `repeats`, which other processes disturb least.

    The default size is 2048 on a CPU and 8192 on a GPU, which smaller ones do not fill. One of the matrices can be
    `prepared`, as the weights of a trained model are.
    """
    size = size or (8192 if device.type == "cuda" else 2048)
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    multiply: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = Prepared() if prepared else torch.matmul
    multiply(a, b)
    return 2 * size**3 / min(durations(device, lambda: multiply(a, b), repeats))


def rates(device: torch.device, repeats: int = 20) -> pd.DataFrame:
    """GFLOP/s of products in each precision, on as many threads as each of MODELS has."""
    rows = []
    all_threads = torch.get_num_threads()
    for threads in sorted({model.threads or all_threads for model in MODELS.values()}, reverse=True):
        torch.set_num_threads(threads)
        for precision, dtype in TYPES.items():
            own, prepared = (product_rate(device, dtype, None, repeats, one) / 1e9 for one in (False, True))
            labels = {"device": name(device), "precision": precision}
            rows.append({**labels, "gflop_per_second": own, "prepared_gflop_per_second": prepared})
    torch.set_num_threads(all_threads)
    return pd.DataFrame(rows)


def layer_sizes(architecture: Architecture) -> tuple[int, int, int, int]:
    """m, n, and the units of the alignment model and of the maxout layer."""
    return architecture.embedding, architecture.hidden, architecture.alignment, architecture.maxout


def products_of_update(
    symbols: int, batch: int, source: float, target: float, architecture: Architecture = PAPER
) -> float:
    """FLOP of the matrix products of one update.

    `source` and `target` are the mean lengths of the sentences in words, EOS counted. The backward pass takes two
    products for each one of the forward pass: for the gradients of the inputs and of the weights.
    """
    return 3 * 2 * batch * pair_products(architecture, symbols, source, target)


@one_line_mistakes("machine")
def main() -> None:
    parser = make_parser("machine", __doc__, rounds=200)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"), help="where to compute (auto)")
    arguments = parse(parser)
    write(rates(choose_device(arguments.device), arguments.rounds), arguments.output)


if __name__ == "__main__":
    main()
