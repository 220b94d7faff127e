"""Word embeddings E x, with the bias that the original code adds to them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional


class Embedding(nn.Module):
    """The m-dimensional embedding matrix of K words, stored as (K, m), and an optional bias shared by all words.

    If `sparse`, the gradient of E holds only the rows of the minibatch's words, for an optimizer that supports it.
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

    def projected(self, words: Tensor, project: Callable[[Tensor], Tensor]) -> Tensor:
        """`project` of the embeddings of `words` (...): (..., p); it maps embeddings (N, m) to (N, p).

        Words repeat in a text, so each is projected once. Not on a GPU: to find the distinct words would wait for it.
        """
        if words.device.type != "cpu":
            return project(self(words))
        distinct, places = words.unique(return_inverse=True)
        return functional.embedding(places, project(self(distinct)))
