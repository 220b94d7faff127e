"""The fixed-length context of RNNencdec: c_i = the last forward state for every target word (end of A.2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.model.fast import loops
from nmt.model.memory import Memory
from nmt.model.units.gated import GatedUnit


class FixedContext(nn.Module):
    """A memory of one position, so that every look finds the same vector. It has no parameters."""

    #: RNNencdec reads the source forwards only.
    bidirectional = False

    def __init__(self, annotation: int, hidden: int, alignment: int) -> None:
        super().__init__()

    @staticmethod
    def summarize(annotations: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The state after the end of sentence as the only position, (B, 1, n), and again for s_0.

        States stand still on padding, so the last column holds it for every sentence.
        """
        last = annotations[:, -1]
        return last.unsqueeze(1), mask[:, :1], last

    def keys(self, annotations: Tensor) -> Tensor:
        """Nothing is scored: (B, 1, 0)."""
        return annotations[..., :0]

    def look(self, memory: Memory, state: Tensor) -> tuple[None, Tensor]:
        """No alignment, and the projections of c (N, p) for states (N, n), N = k rows a sentence."""
        return None, memory.projected[:, 0].repeat_interleave(len(state) // len(memory), dim=0)

    def decode(self, memory: Memory, projected: Tensor, unit: GatedUnit) -> tuple[Tensor, Tensor]:
        """The fast loop over all target words: states s_0..s_Ty (Ty + 1, B, n) and context projections (1, B, p)."""
        width = 3 * unit.hidden
        context = memory.projected[:, 0]
        inputs = (projected + context[:, :width]).unsqueeze(0)
        present = torch.ones_like(inputs[..., 0])
        states = loops.gated(inputs, present, memory.initial.unsqueeze(0), [unit])
        return states[0], context[:, width:].unsqueeze(0)
