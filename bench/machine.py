"""What the machine can do: its name, and the rate of its matrix products, by which an update is judged."""

from __future__ import annotations

import platform
import time
from pathlib import Path

import torch

HEAP_KEPT = ", heap kept"  # the end of a contender's name: it keeps freed memory, as ours does (`keep_memory`)


def name(device: torch.device) -> str:
    """The GPU's name, or the CPU's with its threads."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{models[0] if models else platform.machine()}, {torch.get_num_threads()} threads"


def now(device: torch.device) -> float:
    """Seconds, once the device has done all that it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def product_rate(device: torch.device, dtype: torch.dtype, size: int = 2048, repeats: int = 20) -> float:
    """FLOP/s of a product of two square matrices, the best of `repeats`: what the machine can do when left alone."""
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    a @ b
    seconds = []
    for _ in range(repeats):
        begun = now(device)
        a @ b
        seconds.append(now(device) - begun)
    return 2 * size**3 / min(seconds)


def products_of_update(symbols: int, batch: int, source: float, target: float) -> float:
    """FLOP of the matrix products of an update of the paper's RNNsearch on sentences of so many words, EOS counted.

    Forward once, backward twice: by the inputs and by the weights. Attention's products with single vectors count, too.
    """
    m, n, alignment, maxout = 620, 1000, 1000, 500
    gated = 3 * n * (m + n)
    read = 2 * gated + 2 * n * (3 * n + alignment + 2 * maxout)
    look = source * (alignment + 3 * n + 2 * maxout)
    write = gated + n * alignment + 2 * maxout * (n + m) + maxout * symbols
    return 3 * 2 * batch * (source * read + target * (look + write))
