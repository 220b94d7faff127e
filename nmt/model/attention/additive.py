"""The alignment model of Section 3.3.2 and A.2, which makes a context of its own for every target word."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.model.fast import loops
from nmt.model.fast.steps import tanh_
from nmt.model.memory import Memory
from nmt.model.units.gated import GatedUnit


class Attention(nn.Module):
    """e_ij = v_a' tanh(W_a s_{i-1} + U_a h_j), alpha_ij = softmax_j(e_ij), c_i = sum_j alpha_ij h_j (Eqs. 5 and 6)."""

    #: RNNsearch reads the source in both directions.
    bidirectional = True

    def __init__(self, annotation: int, hidden: int, alignment: int) -> None:
        super().__init__()
        self.W_a = nn.Parameter(torch.empty(alignment, hidden))
        self.U_a = nn.Parameter(torch.empty(alignment, annotation))
        self.v_a = nn.Parameter(torch.empty(alignment))

    @staticmethod
    def summarize(annotations: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What the decoder may look at, (B, Tx, 2n) with its mask (B, Tx); and for s_0 the backward state of word 1."""
        hidden = annotations.shape[-1] // 2
        return annotations, mask, annotations[:, 0, hidden:]

    def keys(self, annotations: Tensor) -> Tensor:
        """U_a h_j of every position, (B, Tx, n'): independent of i, so computed once a sentence (Section 3.3.2)."""
        return functional.linear(annotations, self.U_a)

    def look(self, memory: Memory, state: Tensor) -> tuple[Tensor, Tensor]:
        """alpha_i (N, Tx) and the projections of c_i (N, p) for states s_{i-1} (N, n), N = k rows a sentence.

        Linear maps of c_i are the same sums of the mapped annotations, so c_i itself is never formed.
        """
        sentences = len(memory)
        query = functional.linear(state, self.W_a).view(sentences, -1, 1, len(self.v_a))
        energy = tanh_(query + memory.keys.unsqueeze(1)) @ self.v_a  # (B, k, Tx)
        alignment = energy.masked_fill(~memory.mask.unsqueeze(1), -torch.inf).softmax(dim=-1)
        context = alignment @ memory.projected  # (B, k, p)
        return alignment.flatten(0, 1), context.flatten(0, 1)

    def decode(self, memory: Memory, projected: Tensor, unit: GatedUnit) -> tuple[Tensor, Tensor]:
        """The fast loop over all target words: states s_0..s_Ty (Ty + 1, B, n) and context projections (Ty, B, p)."""
        width = 3 * unit.hidden
        for_unit, for_readout = memory.projected.split([width, memory.projected.shape[-1] - width], dim=-1)
        states, alignments = loops.attentive(projected, memory.initial, for_unit, memory.keys, memory.mask, self, unit)
        seen = torch.bmm(alignments.transpose(0, 1), for_readout)
        return states, seen.transpose(0, 1)
