"""Word embeddings E x, with the bias that the original code adds to them."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Embedding(nn.Module):
    """The m-dimensional embedding matrix of K words, stored as (K, m), and an optional bias shared by all words.

    Where `sparse`, the gradient of E holds the rows of the minibatch's words alone, for an optimizer that knows how.
    """

    sparse = False

    def __init__(self, symbols: int, size: int, bias: bool) -> None:
        super().__init__()
        self.E = nn.Parameter(torch.empty(symbols, size))
        self.b = nn.Parameter(torch.empty(size)) if bias else None

    def forward(self, words: Tensor) -> Tensor:
        """Embeddings (..., m) of word ids (...)."""
        embedded = functional.embedding(words, self.E, sparse=self.sparse)
        return embedded if self.b is None else embedded + self.b
