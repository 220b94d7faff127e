"""The matrix products of a decoder's step: of weights that may change, or prepared once for weights that will not."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

ROWS = 64  # how many rows x is expected to have; the layout serves other numbers almost as well
CACHED = 2**20  # numbers in float32 that fit in the cache of a CPU


def cached_rows(x: Tensor, numbers: int) -> int:
    """How many rows of `x` to take at a time if each takes so many numbers: on a CPU what fits in its cache."""
    return max(1, CACHED // numbers) if x.device.type == "cpu" else len(x)


class Products:
    """[W_1; W_2; ...] x + b of x (..., columns) and weights (rows, columns), which are joined for each product."""

    def rounded(self, x: Tensor) -> Tensor:
        """x in the type of the products, whose results then have it as well."""
        return x

    def __call__(self, x: Tensor, *weights: Tensor, bias: Tensor | None = None) -> Tensor:
        return functional.linear(x, weights[0] if len(weights) == 1 else torch.cat(weights), bias)

    def lowered(self, device: torch.device) -> AbstractContextManager[Any]:
        """A context in which other products on `device` have the same precision."""
        return nullcontext()


PLAIN = Products()


class Prepared(Products):
    """The same for weights that do not change: joined, converted to `dtype` and laid out at their first product.

    Without a `dtype` they keep their own. Results have the type of x.
    """

    def __init__(self, dtype: torch.dtype | None = None) -> None:
        self._dtype = dtype
        self._found: dict[tuple[int, ...], tuple[tuple[Tensor, ...], Tensor]] = {}

    def __call__(self, x: Tensor, *weights: Tensor, bias: Tensor | None = None) -> Tensor:
        key = tuple(map(id, weights))
        if key not in self._found:
            joined = torch.cat([weight.detach() for weight in weights])
            self._found[key] = weights, _laid_out(joined if self._dtype is None else joined.to(self._dtype))
        if bias is not None:
            bias = bias.to(self._found[key][1].dtype)
        return _product(self.rounded(x), self._found[key][1], bias).to(x.dtype)

    def rounded(self, x: Tensor) -> Tensor:
        """x in the type of the products, whose results then have it as well."""
        return x if self._dtype is None else x.to(self._dtype)

    def lowered(self, device: torch.device) -> AbstractContextManager[Any]:
        """A context in which other products on `device` have the same precision."""
        return nullcontext() if self._dtype is None else torch.autocast(device.type, self._dtype)


def _laid_out(weights: Tensor) -> Tensor:
    """`weights` (rows, columns) as oneDNN wants them, by what `torch.compile` uses; elsewhere they stay as they are."""
    if weights.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return weights
    if weights.dtype != torch.float32 and not (
        weights.dtype == torch.bfloat16 and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    ):
        return weights
    laid_out: Tensor = torch.ops.mkldnn._reorder_linear_weight(weights, ROWS)
    return laid_out


def _product(x: Tensor, weights: Tensor, bias: Tensor | None) -> Tensor:
    if not weights.is_mkldnn:
        return functional.linear(x, weights, bias)
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, weights, bias, "none", [], "")
    return product
