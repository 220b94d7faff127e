"""The encoder of Section 3.2 and A.1: a bidirectional RNN for RNNsearch, the forward half of it for RNNencdec."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.model.embedding import Embedding
from nmt.model.fast import loops
from nmt.model.units.gated import GatedUnit


class Encoder(nn.Module):
    """Embeds a source sentence and reads it forwards and, where `bidirectional`, backwards."""

    def __init__(self, symbols: int, embedding: int, hidden: int, bias: bool, bidirectional: bool) -> None:
        super().__init__()
        self.embedding = Embedding(symbols, embedding, bias)
        self.forwards = GatedUnit(embedding, hidden)
        self.backwards = GatedUnit(embedding, hidden) if bidirectional else None

    @property
    def units(self) -> list[GatedUnit]:
        """The forward unit and, where there is one, the backward unit."""
        return [self.forwards] if self.backwards is None else [self.forwards, self.backwards]

    def forward(self, source: Tensor, mask: Tensor, fast: bool) -> Tensor:
        """Annotations h_j = [forward; backward] (Eq. 7) of `source` (B, Tx): (B, Tx, n or 2n).

        `mask` (B, Tx) is False on padding, where a state stays what it was. Initial states are 0.
        """
        real = mask.T.to(self.forwards.b.dtype)
        read = self._read_fast if fast else self._read
        return read(source.T, real).transpose(0, 1).contiguous()

    def _read(self, words: Tensor, real: Tensor) -> Tensor:
        """The recurrences step by step: (Tx, B, n or 2n)."""
        embedded = self.embedding(words)  # (Tx, B, m)
        steps = range(len(embedded))
        directions = []
        for unit, order in zip(self.units, (steps, reversed(steps)), strict=False):
            projected = unit.project(embedded)
            state = embedded.new_zeros(embedded.shape[1], unit.hidden)
            states: dict[int, Tensor] = {}
            for j in order:
                present = real[j].unsqueeze(-1)
                state = present * unit.step(projected[j], state) + (1 - present) * state
                states[j] = state
            directions.append(torch.stack([states[j] for j in steps]))
        return torch.cat(directions, dim=-1)

    def _read_fast(self, words: Tensor, real: Tensor) -> Tensor:
        """The same, both directions in one loop: the backward one reads the sentences turned round."""
        turned = [lambda x: x, lambda x: x.flip(0)][: len(self.units)]
        projections = [self.embedding.projected(words, unit.project) for unit in self.units]
        projected = torch.stack([turn(projection) for turn, projection in zip(turned, projections, strict=True)])
        present = torch.stack([turn(real) for turn in turned])
        initial = real.new_zeros(len(self.units), words.shape[1], self.forwards.hidden)
        states = loops.gated(projected, present, initial, self.units)[:, 1:]
        return torch.cat([turn(direction) for turn, direction in zip(turned, states, strict=True)], dim=-1)
