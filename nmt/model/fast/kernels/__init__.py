"""The functions of `nmt.model.fast.steps` as Triton kernels for CUDA.

Sums have the type of the states. Each result is stored in the type of the tensor that takes it, so that an operand of a
bfloat16 product needs no copy. Tensors are contiguous in their last dimension and may be slices in the others. No call
waits for the host and each number is written by one program, so a CUDA graph can capture the calls and a repetition
gives the same bytes. The tiles are fixed: autotuning would wait for the device.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from torch import Tensor

__all__ = ["available", "jit", "pointwise", "row_of", "rows_of", "tanh", "tl", "triton", "wanted"]

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = tl = None

#: The parts of computing on a GPU that NMT_WITHOUT switches off, to find out what fails: "graphs", "triton" or both.
SWITCHED_OFF = os.environ.get("NMT_WITHOUT", "").split(",")
#: Units that one program of a pointwise kernel computes: one a thread.
UNITS = 128


def available() -> bool:
    """Whether Triton is installed."""
    return triton is not None


def wanted(tensor: Tensor) -> bool:
    """Whether the kernels compute with `tensor`: on a GPU, if Triton is installed and not switched off."""
    return tensor.is_cuda and available() and "triton" not in SWITCHED_OFF


def jit(kernel: Callable[..., Any]) -> Any:
    """`kernel` for Triton to compile; without Triton, `kernel` itself, which is then never called."""
    return kernel if triton is None else triton.jit(kernel)


def rows_of(tensor: Tensor) -> tuple[Tensor, int, int]:
    """`tensor` (B, columns) or (D, B, columns) as the kernels take it: with its strides by direction and by row."""
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
