"""The deep output of A.2: one maxout layer and a softmax over the target vocabulary."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.model.fast import softmax
from nmt.model.products import Layer
from nmt.settings.variant import Architecture


class Readout(Layer):
    """t~_i = U_o s + V_o E y_{i-1} + C_o c_i + b_t, t_i = pairwise maximum of t~_i, p(y_i) = softmax(W_o t_i + b_o).

    With an `output_rank`, as in the original code, the output matrix is a product W_o W_1 of (K, rank) and (rank, l);
    without one, it is the paper's single W_o (K, l).
    """

    def __init__(self, symbols: int, architecture: Architecture, context: int) -> None:
        super().__init__()
        maxout, rank = architecture.maxout, architecture.output_rank
        self.U_o = nn.Parameter(torch.empty(2 * maxout, architecture.hidden))
        self.V_o = nn.Parameter(torch.empty(2 * maxout, architecture.embedding))
        self.C_o = nn.Parameter(torch.empty(2 * maxout, context))
        self.b_t = nn.Parameter(torch.empty(2 * maxout))
        self.W_1 = nn.Parameter(torch.empty(rank, maxout)) if rank else None
        self.W_o = nn.Parameter(torch.empty(symbols, rank or maxout))
        self.b_o = nn.Parameter(torch.empty(symbols))

    def project(self, embedded: Tensor) -> Tensor:
        """V_o E y_{i-1} (..., 2l) of E y_{i-1} (..., m)."""
        return self.linear(embedded, self.V_o)

    def hidden(self, state: Tensor, previous: Tensor, context: Tensor) -> Tensor:
        """t_i, or W_1 t_i with a rank, (..., l or rank), from s (..., n), V_o E y_{i-1} and C_o c_i (..., 2l)."""
        summed = self.linear(state, self.U_o, bias=self.b_t) + previous + context
        maxout = summed.unflatten(-1, (-1, 2)).amax(dim=-1)
        return maxout if self.W_1 is None else self.linear(maxout, self.W_1)

    def logits(self, hidden: Tensor) -> Tensor:
        """W_o t_i + b_o (N, K) of `hidden` (N, l or rank), in the type of products: p(y_i) is its softmax."""
        return self.linear(self.linear.rounded(hidden), self.W_o, bias=self.b_o)

    def nll(self, hidden: Tensor, words: Tensor) -> Tensor:
        """-log p of `words` (N,) given `hidden` (N, l or rank): (N,), in nats. Chunks save memory without autograd."""
        losses = [
            functional.nll_loss(self._log_probabilities(rows), targets, reduction="none")
            for rows, targets in zip(hidden.split(softmax.CHUNK), words.split(softmax.CHUNK), strict=True)
        ]
        return torch.cat(losses)

    def summed_nll(self, hidden: Tensor, words: Tensor, counted: Tensor | None = None) -> Tensor:
        """The sum of `nll` over all words or over the `counted` ones (N,), for the fast implementation."""
        return softmax.summed_nll(hidden, self.W_o, self.b_o, words, counted)

    def _log_probabilities(self, hidden: Tensor) -> Tensor:
        """log p(y_i) (N, K) of `hidden` (N, l or rank), in float32 or better."""
        if not torch.is_grad_enabled():
            return softmax.log_probabilities(self.linear.rounded(hidden), self.W_o, self.b_o)
        logits = functional.linear(hidden, self.W_o, self.b_o)
        return logits.to(self.b_o.dtype).log_softmax(dim=-1)
