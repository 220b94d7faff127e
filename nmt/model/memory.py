"""What the decoder keeps of a source sentence."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Memory:
    """B encoded sentences. `len()` is B.

    projected (B, Tx, 3n + 2l): [C; C_z; C_r; C_o] h_j, what a look at position j adds to the decoder and the readout.
    keys      (B, Tx, n'): U_a h_j.
    mask      (B, Tx): False on padding.
    initial   (B, n): s_0.
    """

    projected: Tensor
    keys: Tensor
    mask: Tensor
    initial: Tensor

    def __len__(self) -> int:
        return len(self.initial)

    def select(self, index: Tensor) -> Memory:
        """The sentences `index` (N,), in that order."""
        return Memory(*(part[index] for part in (self.projected, self.keys, self.mask, self.initial)))


@dataclass(frozen=True)
class Carry:
    """What the decoder keeps between predicting a word and learning which word it was: one row a hypothesis.

    state   (N, n): s_{i-1}, or s_i where the printed order has it already.
    context (N, 3n): [C; C_z; C_r] c_i.
    """

    state: Tensor
    context: Tensor

    def select(self, index: Tensor) -> Carry:
        """The rows `index` (N,), in that order."""
        return Carry(self.state[index], self.context[index])


@dataclass(frozen=True)
class Prediction:
    """log p(y_i | y_<i, x) (N, K), the carry to advance from, and alpha_i (N, Tx) where the model has one."""

    log_probabilities: Tensor
    carry: Carry
    alignment: Tensor | None
