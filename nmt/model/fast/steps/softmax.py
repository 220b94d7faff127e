"""The gradient of the softmax, in plain PyTorch."""

from __future__ import annotations

import torch
from torch import Tensor


def errors(logits: Tensor, words: Tensor, counted: Tensor | None, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Replace `logits` (N, K), still without `bias`, by the gradient of the summed nll of the counted words.

    Returns that sum and the gradient of the bias. All is computed in the type of the bias.
    """
    words = words.unsqueeze(-1)
    exact = logits.to(bias.dtype)
    exact += bias
    margin = exact.amax(dim=-1, keepdim=True) - exact.gather(-1, words)
    torch.softmax(exact, dim=-1, out=exact)
    losses = margin - exact.amax(dim=-1, keepdim=True).log()  # the probability of the likeliest word is never 0
    exact.scatter_add_(-1, words, torch.full_like(losses, -1.0))
    if counted is not None:
        exact *= counted.unsqueeze(-1)
        losses *= counted.unsqueeze(-1)
    if exact is not logits:
        logits.copy_(exact)
    return losses.sum(), exact.sum(dim=0)
