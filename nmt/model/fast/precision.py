"""The type of matrix products: that of their operands, or a lower precision under autocast."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

ROWS = 64  # rows of operands in a lower precision come in multiples of it on a CPU


def product_type(tensor: Tensor) -> torch.dtype:
    """The type of matrix products with `tensor`: that of autocast if it is on, else its own."""
    kind = tensor.device.type
    cast = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
    return torch.get_autocast_dtype(kind) if cast else tensor.dtype


def padded_rows(x: Tensor) -> Tensor:
    """`x` (N, columns) followed by rows of zeros up to a multiple of ROWS, for products in a lower precision on a CPU.

    oneDNN generates code for each number of rows it meets, which takes as long as the product itself or longer.
    """
    if x.device.type != "cpu" or product_type(x).itemsize >= torch.float32.itemsize:
        return x
    return functional.pad(x, (0, 0, 0, -len(x) % ROWS))


def without_autocast(tensor: Tensor) -> AbstractContextManager[Any]:
    """A context in which operations on the device of `tensor` keep the types of their operands."""
    kind = tensor.device.type
    return torch.autocast(kind, enabled=False) if torch.amp.is_autocast_available(kind) else nullcontext()
