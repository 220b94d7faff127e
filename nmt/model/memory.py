"""What the decoder holds between its steps: the source sentences, and its state after the target words so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Memory:
    """B encoded sentences. `len()` is B.

    kept: what the attention keeps of the annotations, a named tuple of tensors (B, ...), opaque to the decoder.
    maps (p rows in all, 2n or n columns): the matrices that c_i is multiplied by, such as C, C_z, C_r and C_o.
    initial (B, state): s_0.
    gate (B, m): what target embeddings are multiplied by, with contextualization.
    """

    kept: Any
    maps: tuple[Tensor, ...]
    initial: Tensor
    gate: Tensor | None = None

    def __len__(self) -> int:
        return len(self.initial)

    def select(self, index: Tensor) -> Memory:
        """The sentences `index` (N,), in that order."""
        kept = type(self.kept)(*(part[index] for part in self.kept))
        return Memory(kept, self.maps, self.initial[index], None if self.gate is None else self.gate[index])

    def gate_rows(self, rows: int) -> Tensor | None:
        """The gate of each row (rows, m), where the `rows` are k for each sentence, side by side."""
        return None if self.gate is None else self.gate.repeat_interleave(rows // len(self), dim=0)


@dataclass(frozen=True)
class Carry:
    """What the decoder keeps between predicting a word and knowing which word it was, a row for each hypothesis.

    state   (N, state): s_{i-1}, or s_i in the printed order, which has it already.
    context (N, inputs): what c_i adds to the unit's pre-activations.
    gate    (N, m): what E y_i is multiplied by, with contextualization.
    """

    state: Tensor
    context: Tensor
    gate: Tensor | None = None

    def select(self, index: Tensor) -> Carry:
        """The rows `index` (N,), in that order."""
        return Carry(self.state[index], self.context[index], None if self.gate is None else self.gate[index])


@dataclass(frozen=True)
class Prediction:
    """Logits of p(y_i | y_<i, x) (N, K), the carry to advance from, and alpha_i (N, Tx) if the model has it."""

    logits: Tensor
    carry: Carry
    alignment: Tensor | None

    @property
    def log_probabilities(self) -> Tensor:
        """log p(y_i | y_<i, x) (N, K), in float32 or better."""
        return exact(self.logits).log_softmax(dim=-1)


def exact(x: Tensor) -> Tensor:
    """x in float32 or better."""
    return x.to(torch.promote_types(x.dtype, torch.float32))
