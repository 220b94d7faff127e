"""What attentions with a score for each source word share: its hidden layer (A.1.2; Choi et al. 2017, Eq. 6)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.model.attention.base import Attention
from nmt.model.products import PLAIN, Products
from nmt.settings.variant import Architecture


class ScoredAttention(Attention):
    """Scores are made of tanh(W_a s_{i-1} + W_y E y_{i-1} + U_a h_j); only with `score_previous` is there a W_y."""

    bidirectional = True

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        n, alignment = architecture.hidden, architecture.alignment
        self.W_a = nn.Parameter(torch.empty(alignment, n))
        self.U_a = nn.Parameter(torch.empty(alignment, 2 * n))
        self.W_y = nn.Parameter(torch.empty(alignment, architecture.embedding)) if architecture.score_previous else None

    def keys(self, annotations: Tensor, linear: Products = PLAIN) -> Tensor:
        """U_a h_j (B, Tx, n') of `annotations` (B, Tx, 2n), independent of i: computed once a sentence."""
        return linear(annotations, self.U_a)

    def query(self, state: Tensor, previous: Tensor, linear: Products = PLAIN) -> Tensor:
        """W_a s_{i-1} + W_y E y_{i-1} (N, n') of s_{i-1} = `state` (N, n) and E y_{i-1} = `previous` (N, m)."""
        query = linear(state, self.W_a)
        return query if self.W_y is None else query + linear(previous, self.W_y)

    def known_queries(self, previous: Callable[[Callable[[Tensor], Tensor]], Tensor]) -> Tensor | None:
        """W_y E y_{i-1} (Ty, B, n'), the part of the queries that depends on no state; `previous` is that of `run`."""
        W_y = self.W_y
        return None if W_y is None else previous(lambda embedded: functional.linear(embedded, W_y))


def first_backward(annotations: Tensor) -> Tensor:
    """The backward state of word 1, (B, n), of `annotations` (B, Tx, 2n)."""
    return annotations[:, 0, annotations.shape[-1] // 2 :]
