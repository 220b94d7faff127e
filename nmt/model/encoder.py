"""The encoder of Section 3.2 and A.1: a bidirectional RNN for RNNsearch, only its forward half for RNNencdec."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.model.embedding import Embedding
from nmt.model.fast import cudnn, loop
from nmt.model.fast.choice import cudnn_wanted
from nmt.model.units import Unit, make_unit
from nmt.settings.variant import Architecture


class Encoder(nn.Module):
    """Embeds a source sentence and reads it forwards and, if `bidirectional`, backwards."""

    def __init__(self, symbols: int, architecture: Architecture, bidirectional: bool) -> None:
        super().__init__()
        self.embedding = Embedding(symbols, architecture.embedding, architecture.embedding_bias)
        self.forwards = make_unit(architecture)
        self.backwards = make_unit(architecture) if bidirectional else None

    @property
    def units(self) -> list[Unit]:
        """The forward unit and, if there is one, the backward unit."""
        return [self.forwards] if self.backwards is None else [self.forwards, self.backwards]

    def forward(self, source: Tensor, mask: Tensor, fast: bool, gate: Tensor | None = None) -> Tensor:
        """Annotations h_j = [forward; backward] (Eq. 7) of `source` (B, Tx): (B, Tx, 2n or n).

        `mask` (B, Tx) is False on padding, where a state does not change. Initial states are 0. Embeddings are
        multiplied by `gate` (B, m), if there is one.
        """
        real = mask.T.to(self.embedding.E.dtype)
        read = self._read_fast if fast else self._read
        return read(source.T, real, gate).transpose(0, 1).contiguous()

    def _read(self, words: Tensor, real: Tensor, gate: Tensor | None) -> Tensor:
        """The recurrences step by step: (Tx, B, 2n or n)."""
        embedded = self.embedding(words, gate)  # (Tx, B, m)
        steps = range(len(embedded))
        directions = []
        for unit, order in zip(self.units, (steps, reversed(steps)), strict=False):
            projected = unit.project(embedded)
            state = embedded.new_zeros(embedded.shape[1], unit.state)
            states: dict[int, Tensor] = {}
            for j in order:
                present = real[j].unsqueeze(-1)
                state = present * unit.step(projected[j], state) + (1 - present) * state
                states[j] = state
            directions.append(unit.output(torch.stack([states[j] for j in steps])))
        return torch.cat(directions, dim=-1)

    def _read_fast(self, words: Tensor, real: Tensor, gate: Tensor | None) -> Tensor:
        """The same, with both directions in one loop; the backward one reads reversed sentences."""
        if cudnn_wanted(words):
            directions = [weights for unit in self.units if (weights := unit.library_weights()) is not None]
            if directions:
                return cudnn.read(self.embedding(words, gate), real, directions)
        turns = [lambda x: x, lambda x: x.flip(0)][: len(self.units)]
        projections = [self.embedding.projected(words, unit.project, gate) for unit in self.units]
        projected = torch.stack([turn(projection) for turn, projection in zip(turns, projections, strict=True)])
        present = torch.stack([turn(real) for turn in turns])
        initial = real.new_zeros(len(self.units), words.shape[1], self.forwards.state)
        recurrence = loop.Recurrence.side_by_side([unit.recurrence() for unit in self.units])
        (states,) = loop.run(recurrence, projected.to(real.dtype), initial, present)
        annotations = self.forwards.output(states[:, 1:])
        return torch.cat([turn(direction) for turn, direction in zip(turns, annotations, strict=True)], dim=-1)
