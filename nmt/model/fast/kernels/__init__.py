"""Functions of the fast implementation as Triton kernels for CUDA, each with the name and arguments of the plain one.

The docstring of the plain function holds for the kernel, too. Sums have the type of the states. Results take the type
of the tensor that they are stored in, so that an operand of a bfloat16 product needs no copy. Tensors are contiguous in
their last dimension and may be slices in the others. No call waits for the host, so a CUDA graph can capture it, and
each number is written by one program, so a repetition gives the same bytes. The tiles are fixed: autotuning would wait
for the device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import triton
import triton.language as tl
from torch import Tensor

__all__ = ["jit", "pointwise", "row_of", "rows_of", "tanh", "tl", "triton"]

#: Units that one program of a pointwise kernel computes: one per thread.
UNITS = 128


def jit(kernel: Callable[..., Any]) -> Any:
    """`kernel` for Triton to compile."""
    return triton.jit(kernel)


def rows_of(tensor: Tensor) -> tuple[Tensor, int, int]:
    """`tensor` (B, columns) or (D, B, columns) as the kernels take it, with its strides by direction and by row."""
    return tensor, tensor.stride(0) if tensor.ndim == 3 else 0, tensor.stride(-2)


def pointwise(kernel: Any, first: Tensor, *tensors: Tensor | None) -> None:
    """Run `kernel` once for each unit of `first` (B, n) or (D, B, n), with `tensors` of as many rows."""
    directions = len(first) if first.ndim == 3 else 1
    sentences, n = first.shape[-2:]
    rows = (None if tensor is None else rows_of(tensor) for tensor in (first, *tensors))
    kernel[triton.cdiv(n, UNITS), sentences, directions](*rows, n, UNITS)


@jit
def row_of(rows: tl.tuple) -> tl.tensor:
    """Where the row of this program starts in `rows`: programs are numbered by tile, sentence and direction."""
    tensor, by_direction, by_sentence = rows
    return tensor + tl.program_id(2).to(tl.int64) * by_direction + tl.program_id(1).to(tl.int64) * by_sentence


@jit
def tanh(x: tl.tensor) -> tl.tensor:
    return 2 * tl.sigmoid(2 * x) - 1
