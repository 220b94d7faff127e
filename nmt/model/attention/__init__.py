"""The attentions, which weight the source for the decoder, and their interface."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.model.embedding import PreviousWords
from nmt.model.memory import Memory
from nmt.model.products import Layer
from nmt.model.units import Unit
from nmt.settings.variant import ATTENTIONS, Architecture


class Attention(Layer, ABC):
    """Computes contexts from the annotations h_j (B, Tx, 2n or n), one for each target word or one for all."""

    #: Whether the encoder reads the source in both directions.
    bidirectional = True

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()

    @property
    def score_matrices(self) -> Sequence[nn.Parameter]:
        """The matrices whose initial weights have the deviation `attention_scale`."""
        return ()

    @property
    def zero_matrices(self) -> Sequence[nn.Parameter]:
        """The matrices whose initial weights are zero, as all vectors' are."""
        return ()

    @abstractmethod
    def keep(self, annotations: Tensor, mask: Tensor, maps: Sequence[Tensor]) -> tuple[Any, Tensor]:
        """What `attend` needs from the annotations, a named tuple of tensors (B, ...), and what s_0 comes from, (B, n).

        `mask` (B, Tx) is False on padding. c_i is multiplied by the matrices `maps` (p rows in all, 2n or n columns).
        """

    @abstractmethod
    def attend(self, memory: Memory, state: Tensor, previous: Tensor) -> tuple[Tensor | None, Tensor]:
        """alpha_i (N, Tx), if there is one, and the products of `maps` with c_i (N, p) for s_{i-1} = `state` (N, n).

        previous (N, m) is E y_{i-1}, 0 before the first word. The N rows are k for each sentence, side by side.
        """

    def run(self, memory: Memory, unit: Unit, projected: Tensor, previous: PreviousWords) -> tuple[Tensor, Tensor]:
        """All Ty steps where the words are known; `projected` (Ty, B, inputs) is what they add to the pre-activations.

        Returns the states s_0, ..., s_Ty, (Ty + 1, B, state), and the products of `maps` with c_i beyond the unit's
        inputs, (Ty or 1, B, p - inputs). This default calls `attend` step by step; an attention with a fast loop
        overrides it.
        """
        states, rest = [memory.initial], []
        for inputs, embedded in zip(projected, previous.embedded(), strict=True):
            _, mapped = self.attend(memory, unit.output(states[-1]), embedded)
            states.append(unit.step(inputs + mapped[:, : unit.inputs], states[-1]))
            rest.append(mapped[:, unit.inputs :])
        return torch.stack(states), torch.stack(rest)


class ScoredAttention(Attention):
    """What additive and fine-grained attention share: tanh(W_a s_{i-1} + W_y E y_{i-1} + U_a h_j) for each word.

    (A.2; Choi et al. 2017, Eq. 6.) There is a W_y only with `score_previous`.
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        n, alignment = architecture.hidden, architecture.alignment
        self.W_a = nn.Parameter(torch.empty(alignment, n))
        self.U_a = nn.Parameter(torch.empty(alignment, 2 * n))
        self.W_y = nn.Parameter(torch.empty(alignment, architecture.embedding)) if architecture.score_previous else None

    @property
    def score_matrices(self) -> Sequence[nn.Parameter]:
        """W_a, U_a and, if there is one, W_y."""
        return [self.W_a, self.U_a] if self.W_y is None else [self.W_a, self.U_a, self.W_y]

    def keys(self, annotations: Tensor) -> Tensor:
        """U_a h_j (B, Tx, n') of `annotations` (B, Tx, 2n), independent of i: computed once per sentence."""
        return self.linear(annotations, self.U_a)

    def query(self, state: Tensor, previous: Tensor) -> Tensor:
        """W_a s_{i-1} + W_y E y_{i-1} (N, n') of s_{i-1} = `state` (N, n) and E y_{i-1} = `previous` (N, m)."""
        query = self.linear(state, self.W_a)
        return query if self.W_y is None else query + self.linear(previous, self.W_y)

    def word_queries(self, previous: PreviousWords) -> Tensor | None:
        """W_y E y_{i-1} (Ty, B, n'), the part of the queries that depends on no state."""
        W_y = self.W_y
        return None if W_y is None else previous.projected(lambda embedded: functional.linear(embedded, W_y))


def first_backward(annotations: Tensor) -> Tensor:
    """The backward state of word 1, (B, n), of `annotations` (B, Tx, 2n)."""
    return annotations[:, 0, annotations.shape[-1] // 2 :]


def make_attention(architecture: Architecture) -> Attention:
    """The attention that `architecture` names. Only its module is imported, so that a model depends on no other."""
    module, name = ATTENTIONS[architecture.attention]
    attention: Attention = getattr(importlib.import_module(module), name)(architecture)
    return attention
