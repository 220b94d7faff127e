"""What a search needs from all logits: the normalizer of a row, and the best word of each block of words."""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.model.fast.choice import kernel
from nmt.model.memory import exact
from nmt.model.products import cached_rows

BLOCK = 256  # words


@kernel("nmt.model.fast.kernels.words")
def summarize(logits: Tensor, forbidden: Tensor) -> tuple[Tensor, Tensor]:
    """The log normalizers (B, k) and the highest logits of each block (B, k, blocks) of `logits` (B, k, K).

    The normalizer, in float32 or better, subtracted from a row's logits gives log p(y_i | y_<i, x). After it is taken,
    the logits of words that may not come next become -inf, here and in `logits`: of the first F words those that are
    `forbidden` (B, F).
    """
    normalizers = log_normalizers(logits.flatten(0, 1)).view(logits.shape[:2])
    logits[:, :, : forbidden.shape[1]].masked_fill_(forbidden.unsqueeze(1), -torch.inf)
    return normalizers, highest(logits)


def log_normalizers(logits: Tensor) -> Tensor:
    """log sum exp of each row of `logits` (N, K), in float32 or better: (N,)."""
    found = []
    for rows in logits.split(cached_rows(logits, logits.shape[1])):
        # A softmax takes a fraction of the time of PyTorch's exp.
        likeliest = exact(rows).softmax(dim=-1).amax(dim=-1)
        found.append(exact(rows.amax(dim=-1)) - likeliest.log())
    return torch.cat(found)


def highest(logits: Tensor) -> Tensor:
    """The maximum of each block of `logits` (..., K): (..., blocks); the last block may be shorter."""
    full, rest = divmod(logits.shape[-1], BLOCK)
    found = logits[..., : full * BLOCK].unflatten(-1, (full, BLOCK)).amax(dim=-1)
    return torch.cat([found, logits[..., -rest:].amax(dim=-1, keepdim=True)], dim=-1) if rest else found
