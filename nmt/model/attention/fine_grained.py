"""Fine-grained attention (Choi et al. 2017, Section 3): every dimension of an annotation has its own weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.model.attention import ScoredAttention, first_backward
from nmt.model.embedding import PreviousWords
from nmt.model.fast import loop, tanh_of_sum
from nmt.model.fast.fine_grained import FastFineGrained
from nmt.model.memory import Memory
from nmt.model.products import cached_rows
from nmt.model.units import Unit
from nmt.settings.variant import Architecture

LIMIT = 2**26  # bytes of the largest tensor in `attend`, which takes as many hypotheses at a time as that allows


class Kept(NamedTuple):
    """What is kept for B sentences.

    annotations (B, Tx, 2n): h_j. A map of c_i is not a weighted sum of mapped annotations, so c_i is formed.
    keys (B, Tx, n'): U_a h_j.
    mask (B, Tx): False on padding.
    """

    annotations: Tensor
    keys: Tensor
    mask: Tensor


class FineGrainedAttention(ScoredAttention):
    """e_ij = V tanh(W_a s_{i-1} + W_y E y_{i-1} + U_a h_j), a score for each dimension of h_j (Eq. 7).

    alpha_ij = softmax_j(e_ij) in each dimension (Eq. 8), c_i = sum_j alpha_ij o h_j (Eq. 9). The paper's AttY2D has
    `score_previous`.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.V = nn.Parameter(torch.empty(2 * architecture.hidden, architecture.alignment))

    @property
    def zero_matrices(self) -> list[nn.Parameter]:
        """V, like v_a where a word has a single score."""
        return [self.V]

    def keep(self, annotations: Tensor, mask: Tensor, maps: Sequence[Tensor]) -> tuple[Kept, Tensor]:
        """The annotations, the keys and the mask; for s_0 the backward state of word 1, (B, n)."""
        return Kept(annotations, self.keys(annotations), mask), first_backward(annotations)

    def weights(self, kept: Kept, query: Tensor) -> Tensor:
        """alpha_i (..., Tx, 2n), Eqs. 7 and 8, for `query` (..., n'); the tensors of `kept` broadcast to its rows."""
        scores = self.linear(tanh_of_sum(query.unsqueeze(-2), kept.keys), self.V)
        return scores.masked_fill(~kept.mask.unsqueeze(-1), -torch.inf).softmax(dim=-2)

    def attend(self, memory: Memory, state: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """The mean of alpha_i over the dimensions (N, Tx) and the products of `maps` with c_i (N, p).

        s_{i-1} is `state` (N, n).
        """
        query = self.query(state, previous)
        numbers = memory.kept.mask.shape[1] * max(self.V.shape)
        rows = max(1, min(cached_rows(query, numbers), LIMIT // (numbers * self.V.element_size())))
        query = query.unflatten(0, (len(memory), -1))  # (B, k, n')
        sentences = max(1, rows // query.shape[1])
        alignments, contexts = [], []
        for asking, *kept in zip(query.split(sentences), *(part.split(sentences) for part in memory.kept), strict=True):
            of_each = Kept(*(part.unsqueeze(1) for part in kept))
            for asked in asking.split(rows, dim=1):
                alpha = self.weights(of_each, asked)
                alignments.append(alpha.mean(dim=-1).flatten(0, 1))
                contexts.append((alpha * of_each.annotations).sum(dim=-2).flatten(0, 1))
        return torch.cat(alignments), self.linear(torch.cat(contexts), *memory.maps)

    def run(self, memory: Memory, unit: Unit, projected: Tensor, previous: PreviousWords) -> tuple[Tensor, Tensor]:
        """The states, and C_o c_i (Ty, B, 2l) for all words by one product with the contexts."""
        *to_unit, to_readout = memory.maps
        attending = loop.Attending(
            FastFineGrained(len(self.W_a)),
            (self.W_a, *memory.kept, self.V, torch.cat(to_unit)),
            self.word_queries(previous),
        )
        projected = projected.to(self.V.dtype)
        states, contexts = loop.run(unit.recurrence(), projected, memory.initial, attending=attending)
        return states, functional.linear(contexts, to_readout)
