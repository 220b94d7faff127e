"""The alignment model of Section 3.3.2 and A.2: every target word has its own context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nmt.model.attention import ScoredAttention, first_backward
from nmt.model.embedding import PreviousWords
from nmt.model.fast import loop, tanh_of_sum
from nmt.model.fast.additive import FastAdditive
from nmt.model.memory import Memory
from nmt.model.products import cached_rows
from nmt.model.units import Unit
from nmt.settings.variant import Architecture


class Kept(NamedTuple):
    """What is kept for B sentences.

    values (B, Tx, p): [C; C_z; C_r; C_o] h_j. A linear map of c_i is the same weighted sum of the mapped annotations,
    so c_i itself is never formed.
    keys (B, Tx, n'): U_a h_j, independent of i and so computed once per sentence (Section 3.3.2).
    mask (B, Tx): False on padding.
    """

    values: Tensor
    keys: Tensor
    mask: Tensor


class AdditiveAttention(ScoredAttention):
    """e_ij = v_a' tanh(W_a s_{i-1} + U_a h_j), alpha_ij = softmax_j(e_ij), c_i = sum_j alpha_ij h_j (Eqs. 5 and 6).

    With `score_previous`, the tanh also sees W_y E y_{i-1}: the second paper's AttY (its Eq. 6).
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.v_a = nn.Parameter(torch.empty(architecture.alignment))

    def keep(self, annotations: Tensor, mask: Tensor, maps: Sequence[Tensor]) -> tuple[Kept, Tensor]:
        """The mapped annotations, the keys and the mask; for s_0 the backward state of word 1, (B, n)."""
        first = first_backward(annotations)  # before the products: gradients of annotations are summed in this order
        return Kept(self.linear(annotations, *maps), self.keys(annotations), mask), first

    def attend(self, memory: Memory, state: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """alpha_i (N, Tx) and the products of `maps` with c_i (N, p) for s_{i-1} = `state` (N, n), Eqs. 5 and 6."""
        kept: Kept = memory.kept
        query = self.query(state, previous).view(len(memory), -1, 1, len(self.v_a))
        size = cached_rows(query, query[0].numel() * kept.mask.shape[1])
        parts = zip(query.split(size), kept.keys.unsqueeze(1).split(size), strict=True)
        energy = torch.cat([tanh_of_sum(asked, keys) @ self.v_a for asked, keys in parts])  # (B, k, Tx)
        alignment = energy.masked_fill(~kept.mask.unsqueeze(1), -torch.inf).softmax(dim=-1)
        context = alignment @ kept.values  # (B, k, p)
        return alignment.flatten(0, 1), context.flatten(0, 1)

    def run(self, memory: Memory, unit: Unit, projected: Tensor, previous: PreviousWords) -> tuple[Tensor, Tensor]:
        """The states, and C_o c_i (Ty, B, 2l) for all words by one product with the alignments."""
        kept: Kept = memory.kept
        values, rest = kept.values.split([unit.inputs, kept.values.shape[-1] - unit.inputs], dim=-1)
        attending = loop.Attending(
            FastAdditive(len(self.v_a)),
            (self.W_a, values, kept.keys, kept.mask, self.v_a),
            self.word_queries(previous),
        )
        projected = projected.to(self.v_a.dtype)
        states, alignments = loop.run(unit.recurrence(), projected, memory.initial, attending=attending)
        return states, torch.bmm(alignments.transpose(0, 1), rest).transpose(0, 1)
