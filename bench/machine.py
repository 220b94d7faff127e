"""The machine: its name, and the rate of its matrix products, with which an update is compared."""

from __future__ import annotations

import platform
import time
from pathlib import Path

import torch

HEAP_KEPT = ", heap kept"  # ends the name of a contender that keeps freed memory, as ours does (`keep_memory`)


def name(device: torch.device) -> str:
    """The name of the GPU, or that of the CPU and the number of threads."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{models[0] if models else platform.machine()}, {torch.get_num_threads()} threads"


def now(device: torch.device) -> float:
    """The time in seconds, once the device has finished all its work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def product_rate(device: torch.device, dtype: torch.dtype, size: int = 2048, repeats: int = 20) -> float:
    """FLOP/s of a product of two square matrices: the best of `repeats`, which other processes disturb least."""
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    a @ b
    seconds = []
    for _ in range(repeats):
        begun = now(device)
        a @ b
        seconds.append(now(device) - begun)
    return 2 * size**3 / min(seconds)


def products_of_update(symbols: int, batch: int, source: float, target: float) -> float:
    """FLOP of the matrix products of one update of the paper's RNNsearch.

    `source` and `target` are the mean lengths of the sentences in words, EOS counted. The backward pass takes two
    products for each one of the forward pass: for the gradients of the inputs and of the weights. The products of
    attention with single vectors count, too.
    """
    m, n, alignment, maxout = 620, 1000, 1000, 500
    gated = 3 * n * (m + n)
    read = 2 * gated + 2 * n * (3 * n + alignment + 2 * maxout)
    attend = source * (alignment + 3 * n + 2 * maxout)
    write = gated + n * alignment + 2 * maxout * (n + m) + maxout * symbols
    return 3 * 2 * batch * (source * read + target * (attend + write))
