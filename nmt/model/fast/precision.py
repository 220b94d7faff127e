"""The type of matrix products: that of their operands, or a lower precision under autocast."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor


def product_type(tensor: Tensor) -> torch.dtype:
    """The type of matrix products with `tensor`: that of autocast if it is on, else its own."""
    kind = tensor.device.type
    cast = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
    return torch.get_autocast_dtype(kind) if cast else tensor.dtype


def without_autocast(tensor: Tensor) -> AbstractContextManager[Any]:
    """A context in which operations on the device of `tensor` keep the types of their operands."""
    kind = tensor.device.type
    return torch.autocast(kind, enabled=False) if torch.amp.is_autocast_available(kind) else nullcontext()
