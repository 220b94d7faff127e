"""The kernel of `nmt.model.fast.words`."""

from __future__ import annotations

from torch import Tensor

from nmt.model.fast.kernels import jit, tl, triton
from nmt.model.fast.words import BLOCK
from nmt.model.memory import exact

#: Blocks of a row that its program holds at once, and the program's warps.
BLOCKS, WARPS = 16, 16
LOWEST = tl.constexpr(-1e38)  # instead of -inf, so that exp never meets the difference of two infinities


@jit
def _summarize(
    logits: tl.tensor,
    forbidden: tl.tensor,
    normalizers: tl.tensor,
    highest: tl.tensor,
    symbols: tl.int32,
    by_row: tl.int32,
    rows: tl.int32,
    blocks: tl.int32,
    words: tl.int32,
    BLOCK: tl.constexpr,
    BLOCKS: tl.constexpr,
) -> None:
    """Read a row once: its maxima by block, and its normalizer from the maximum so far and the sum relative to it."""
    kind: tl.constexpr = normalizers.dtype.element_ty
    row = tl.program_id(0).to(tl.int64)
    logits += row * by_row
    highest += row * blocks
    forbidden += row // rows * words
    largest = tl.full([], LOWEST, kind)
    total = tl.zeros([], kind)
    for first in range(0, blocks, BLOCKS):
        b = first + tl.arange(0, BLOCKS)
        k = b[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
        x = tl.load(logits + k, mask=k < symbols, other=-float("inf")).to(kind)
        larger = tl.maximum(largest, tl.max(tl.max(x, axis=1), axis=0))
        total = total * tl.exp(largest - larger) + tl.sum(tl.sum(tl.exp(x - larger), axis=1), axis=0)
        largest = larger
        absent = tl.load(forbidden + k, mask=k < words, other=0) != 0
        x = tl.where(absent, -float("inf"), x)
        tl.store(logits + k, x, mask=absent)
        tl.store(highest + b, tl.max(x, axis=1), mask=b < blocks)
    tl.store(normalizers + row, largest + tl.log(total))


def summarize(logits: Tensor, forbidden: Tensor) -> tuple[Tensor, Tensor]:
    """A program for each row."""
    sentences, rows, symbols = logits.shape
    blocks = triton.cdiv(symbols, BLOCK)
    normalizers = exact(logits.new_empty(sentences, rows))
    highest = logits.new_empty(sentences, rows, blocks)
    by_row = logits.view(-1, symbols).stride(0)  # the stride of a dimension of size 1 is arbitrary
    _summarize[(sentences * rows,)](
        *(logits, forbidden, normalizers, highest, symbols, by_row, rows, blocks),
        *(forbidden.shape[1], BLOCK, BLOCKS),
        num_warps=WARPS,
    )
    return normalizers, highest
