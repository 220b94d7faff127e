"""Matrix products: their precision, and the preparation of weights that no longer change."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

EXPECTED = 64  # rows of x that prepared weights are laid out for; the layout serves other numbers almost as well
ALIGNED = 8  # numbers in bfloat16 that a GPU reads or writes at once
PADDED = 64  # on a CPU, operands in a lower precision are padded to a multiple of this many rows
CACHED = 2**20  # numbers in float32 that fit in the cache of a CPU


def product_type(tensor: Tensor) -> torch.dtype:
    """The type of matrix products with `tensor`: that of autocast if it is on, otherwise its own."""
    kind = tensor.device.type
    cast = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
    return torch.get_autocast_dtype(kind) if cast else tensor.dtype


def padded_rows(x: Tensor) -> Tensor:
    """`x` (N, columns), padded with rows of zeros to a multiple of PADDED for products in a lower precision on a CPU.

    oneDNN generates code for each new number of rows, which takes as long as the product itself or longer.
    """
    if x.device.type != "cpu" or product_type(x).itemsize >= torch.float32.itemsize:
        return x
    return functional.pad(x, (0, 0, 0, -len(x) % PADDED))


def without_autocast(tensor: Tensor) -> AbstractContextManager[Any]:
    """A context in which operations on the device of `tensor` keep the types of their operands."""
    kind = tensor.device.type
    return torch.autocast(kind, enabled=False) if torch.amp.is_autocast_available(kind) else nullcontext()


def cached_rows(x: Tensor, numbers: int) -> int:
    """How many rows of `x` to process at a time if each needs this many numbers: on a CPU, as many as fit its cache."""
    return max(1, CACHED // numbers) if x.device.type == "cpu" else len(x)


class Products:
    """[W_1; W_2; ...] x + b of x (..., columns) and weights (rows, columns), which are joined for each product."""

    def rounded(self, x: Tensor) -> Tensor:
        """x in the type of the products, so that their results have it, too."""
        return x

    def __call__(self, x: Tensor, *weights: Tensor, bias: Tensor | None = None) -> Tensor:
        return functional.linear(x, weights[0] if len(weights) == 1 else torch.cat(weights), bias)

    def lowered(self, device: torch.device) -> AbstractContextManager[Any]:
        """A context in which other products on `device` have the same precision."""
        return nullcontext()


PLAIN = Products()


class Layer(nn.Module):
    """A module whose matrix products are `linear`: PLAIN, or those that `Network.freeze` prepares."""

    linear: Products = PLAIN


class Prepared(Products):
    """Products with weights and biases that do not change: joined, converted to `dtype`, laid out at the first product.

    Without a `dtype`, weights keep their type. Results have the type of x.
    """

    def __init__(self, dtype: torch.dtype | None = None) -> None:
        self._dtype = dtype
        self._found: dict[tuple[int, ...], tuple[tuple[Tensor, ...], Tensor, Tensor | None]] = {}

    def __call__(self, x: Tensor, *weights: Tensor, bias: Tensor | None = None) -> Tensor:
        key = (*map(id, weights), bias is not None)
        if key not in self._found:
            joined = torch.cat([weight.detach() for weight in weights])
            laid_out = _laid_out(joined if self._dtype is None else joined.to(self._dtype))
            if bias is not None:
                bias = functional.pad(bias.detach().to(laid_out.dtype), (0, len(laid_out) - len(joined)))
            self._found[key] = weights, laid_out, bias  # the weights too: a new tensor could get the id of a freed one
        _, laid_out, bias = self._found[key]
        rows = sum(map(len, weights))
        return _product(self.rounded(x), laid_out, bias)[..., :rows].to(x.dtype)

    def rounded(self, x: Tensor) -> Tensor:
        """x in the type of the products, so that their results have it, too."""
        return x if self._dtype is None else x.to(self._dtype)

    def lowered(self, device: torch.device) -> AbstractContextManager[Any]:
        """A context in which other products on `device` have the same precision."""
        return nullcontext() if self._dtype is None else torch.autocast(device.type, self._dtype)


def _laid_out(weights: Tensor) -> Tensor:
    """`weights` (rows, columns) in the layout of oneDNN, by private operations of `torch.compile`; on a GPU aligned."""
    if weights.is_cuda:
        return _aligned(weights)
    if weights.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return weights
    if weights.dtype != torch.float32 and not (
        weights.dtype == torch.bfloat16 and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    ):
        return weights
    laid_out: Tensor = torch.ops.mkldnn._reorder_linear_weight(weights, EXPECTED)
    return laid_out


def _aligned(weights: Tensor) -> Tensor:
    """`weights` (rows, columns) and rows of zeros, so that each row of a product starts at a multiple of 16 bytes."""
    return functional.pad(weights, (0, 0, 0, -len(weights) % ALIGNED))


def _product(x: Tensor, weights: Tensor, bias: Tensor | None) -> Tensor:
    if not weights.is_mkldnn:
        return functional.linear(x, weights, bias)
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, weights, bias, "none", [], "")
    return product
