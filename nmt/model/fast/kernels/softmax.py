"""The kernel of `nmt.model.fast.softmax`."""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.model.fast.kernels import jit, tl

#: Columns of a row that its program holds at once, and the program's warps: many, because the second pass finds the
#: rows in the cache of a GPU only if few programs run at a time.
COLUMNS, WARPS = 4096, 16


@jit
def _errors(
    logits: tl.tensor,
    words: tl.tensor,
    counted: tl.tensor,
    bias: tl.tensor,
    losses: tl.tensor,
    symbols: tl.int32,
    by_row: tl.int32,
    K: tl.constexpr,
) -> None:
    """Store the loss of a row and replace its logits by its errors: first maximum and sum together, then the errors."""
    kind: tl.constexpr = losses.dtype.element_ty
    row = tl.program_id(0).to(tl.int64)
    logits += row * by_row
    word = tl.load(words + row)
    weight = tl.full([], 1, kind)
    if counted is not None:
        weight = tl.load(counted + row).to(kind)
    own = tl.load(logits + word).to(kind) + tl.load(bias + word)
    largest = tl.zeros([K], kind) + own  # finite, so that exp never meets the difference of two infinities
    totals = tl.zeros([K], kind)
    for first in range(0, symbols, K):
        k = first + tl.arange(0, K)
        x = tl.load(logits + k, mask=k < symbols, other=-float("inf")).to(kind)
        x += tl.load(bias + k, mask=k < symbols, other=0)
        larger = tl.maximum(largest, x)
        totals = totals * tl.exp(largest - larger) + tl.exp(x - larger)
        largest = larger
    maximum = tl.max(largest, axis=0)
    total = tl.sum(totals * tl.exp(largest - maximum), axis=0)
    tl.store(losses + row, weight * (tl.log(total) + (maximum - own)))
    share = weight / total
    for first in range(0, symbols, K):
        k = first + tl.arange(0, K)
        x = tl.load(logits + k, mask=k < symbols, other=0).to(kind) + tl.load(bias + k, mask=k < symbols, other=0)
        tl.store(logits + k, share * tl.exp(x - maximum) - tl.where(k == word, weight, 0), mask=k < symbols)


def errors(logits: Tensor, words: Tensor, counted: Tensor | None, bias: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient of the bias is the sum of the rows as they are stored."""
    losses = bias.new_empty(len(logits))
    _errors[(len(logits),)](
        logits, words, counted, bias, losses, logits.shape[1], logits.stride(0), COLUMNS, num_warps=WARPS
    )
    return losses.sum(), torch.sum(logits, dim=0, dtype=bias.dtype)
