"""Word embeddings gated by the whole source sentence: the contextualization of Choi et al. (2017), Section 4.3.

The paper prints c; the gates follow an earlier paper of its authors (docs/fidelity.md):

c = mean_t NN(x_t),  x_t <- x_t o sigma(G_x c + b_x),  y_t <- y_t o sigma(G_y c + b_y).

The paper calls NN a feedforward network and does not specify its layers. Ours has two, with tanh.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Contextualization(nn.Module):
    """Gates for m-dimensional embeddings, from a network with `units` (q) hidden units in each layer."""

    def __init__(self, embedding: int, units: int) -> None:
        super().__init__()
        self.W_1 = nn.Parameter(torch.empty(units, embedding))
        self.b_1 = nn.Parameter(torch.empty(units))
        self.W_2 = nn.Parameter(torch.empty(units, units))
        self.b_2 = nn.Parameter(torch.empty(units))
        self.G_x = nn.Parameter(torch.empty(embedding, units))
        self.b_x = nn.Parameter(torch.empty(embedding))
        self.G_y = nn.Parameter(torch.empty(embedding, units))
        self.b_y = nn.Parameter(torch.empty(embedding))

    def network(self, embedded: Tensor) -> Tensor:
        """NN(x_t) = tanh(W_2 tanh(W_1 x_t + b_1) + b_2), (..., q), of x_t = `embedded` (..., m) without a gate."""
        hidden = torch.tanh(functional.linear(embedded, self.W_1, self.b_1))
        return torch.tanh(functional.linear(hidden, self.W_2, self.b_2))

    def forward(self, mapped: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The gates (B, m) of source and target embeddings, from NN(x_t) = `mapped` (B, Tx, q).

        The mean is over the words of each sentence, end included; `mask` (B, Tx) is False on padding.
        """
        real = mask.to(self.b_x.dtype).unsqueeze(-1)
        context = (real * mapped).sum(dim=1) / real.sum(dim=1)
        source = torch.sigmoid(functional.linear(context, self.G_x, self.b_x))
        target = torch.sigmoid(functional.linear(context, self.G_y, self.b_y))
        return source, target
