"""Word embeddings E x, with the bias that the original code adds to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.model.products import padded_rows


class Embedding(nn.Module):
    """The m-dimensional embedding matrix of K words, stored as (K, m), and an optional bias shared by all words.

    If `sparse`, the gradient of E holds only the rows of the minibatch's words, for an optimizer that supports it.
    """

    sparse = False

    def __init__(self, symbols: int, size: int, bias: bool) -> None:
        super().__init__()
        self.E = nn.Parameter(torch.empty(symbols, size))
        self.b = nn.Parameter(torch.empty(size)) if bias else None

    def forward(self, words: Tensor, gate: Tensor | None = None) -> Tensor:
        """Embeddings (..., m) of word ids (..., B), multiplied by the `gate` (B, m) if there is one."""
        embedded = functional.embedding(words, self.E, sparse=self.sparse)
        if self.b is not None:
            embedded = embedded + self.b
        return embedded if gate is None else embedded * gate

    def projected(self, words: Tensor, project: Callable[[Tensor], Tensor], gate: Tensor | None = None) -> Tensor:
        """The embeddings of `words` (..., B), mapped by `project` from (..., m) to (..., p).

        Words repeat, so each distinct word is mapped only once; but not with a gate, which differs from sentence to
        sentence, and not on a GPU, where finding distinct words would force a synchronization.
        """
        if gate is not None or words.device.type != "cpu":
            return project(self(words, gate))
        distinct, places = words.unique(return_inverse=True)
        return functional.embedding(places, project(padded_rows(self(distinct))))


@dataclass(frozen=True)
class PreviousWords:
    """E y_{i-1} for every word y_i of `words` (Ty, B): 0 before the first, multiplied by `gate` (B, m) if any."""

    embedding: Embedding
    words: Tensor
    gate: Tensor | None

    def projected(self, project: Callable[[Tensor], Tensor]) -> Tensor:
        """All of them, mapped by `project` from (..., m) to (..., p): (Ty, B, p)."""
        E, words = self.embedding.E, self.words[:-1]
        first = project(E.new_zeros(1, words.shape[1], E.shape[1]))
        return torch.cat([first, self.embedding.projected(words, project, self.gate)])

    def embedded(self) -> Tensor:
        """All of them as they are: (Ty, B, m)."""
        return self.projected(lambda embedded: embedded)
