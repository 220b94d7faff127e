"""The fixed-length context of RNNencdec: for every target word, c_i is the last forward state (A.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from nmt.model.attention import Attention
from nmt.model.embedding import PreviousWords
from nmt.model.fast import loop
from nmt.model.memory import Memory
from nmt.model.units import Unit


class Kept(NamedTuple):
    """What is kept for B sentences: the products of `maps` with c (B, p)."""

    context: Tensor


class FixedContext(Attention):
    """The same context for every target word. It has no parameters and no alignment."""

    bidirectional = False

    def keep(self, annotations: Tensor, mask: Tensor, maps: Sequence[Tensor]) -> tuple[Kept, Tensor]:
        """The products of `maps` with c, and for s_0 c itself: the state after the end of sentence, (B, n).

        States do not change on padding, so the last column holds it for every sentence.
        """
        last = annotations[:, -1]
        return Kept(self.linear(last.unsqueeze(1), *maps).squeeze(1)), last

    def attend(self, memory: Memory, state: Tensor, previous: Tensor) -> tuple[None, Tensor]:
        """No alignment, and the products of `maps` with c (N, p)."""
        kept: Kept = memory.kept
        return None, kept.context.repeat_interleave(len(state) // len(memory), dim=0)

    def run(self, memory: Memory, unit: Unit, projected: Tensor, previous: PreviousWords) -> tuple[Tensor, Tensor]:
        """The states, and C_o c (1, B, 2l)."""
        kept: Kept = memory.kept
        projected = projected.to(memory.maps[0].dtype) + kept.context[:, : unit.inputs]
        (states,) = loop.run(unit.recurrence(), projected, memory.initial)
        return states, kept.context[:, unit.inputs :].unsqueeze(0)
