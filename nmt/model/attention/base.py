"""What the decoder asks of an attention, and how one is found by its name."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor, nn

from nmt.model.attention import MODULES
from nmt.model.fast.loop import Recurrence
from nmt.model.memory import Memory
from nmt.model.products import PLAIN, Products
from nmt.settings.variant import Architecture


class Attention(nn.Module, ABC):
    """Makes contexts of the annotations h_j (B, Tx, 2n or n), one for each target word or one for all."""

    #: Whether the encoder reads the source in both directions.
    bidirectional: bool

    @abstractmethod
    def __init__(self, architecture: Architecture) -> None:
        super().__init__()

    @abstractmethod
    def keep(
        self, annotations: Tensor, mask: Tensor, maps: Sequence[Tensor], linear: Products = PLAIN
    ) -> tuple[Any, Tensor]:
        """What `attend` needs of the annotations, a named tuple of tensors (B, ...), and (B, n) that s_0 is made of.

        `mask` (B, Tx) is False on padding; maps (p rows in all, 2n or n columns) are what c_i is multiplied with.
        """

    @abstractmethod
    def attend(
        self, memory: Memory, state: Tensor, previous: Tensor, linear: Products = PLAIN
    ) -> tuple[Tensor | None, Tensor]:
        """alpha_i (N, Tx), if there is one, and maps c_i (N, p) for s_{i-1} = `state` (N, n).

        previous (N, m) is E y_{i-1}, 0 before the first word. N is k rows for each sentence, side by side.
        """

    @abstractmethod
    def run(
        self,
        memory: Memory,
        recurrence: Recurrence,
        projected: Tensor,
        previous: Callable[[Callable[[Tensor], Tensor]], Tensor],
    ) -> tuple[Tensor, Tensor]:
        """The fast loop over Ty target words, whose inputs add `projected` (Ty, B, inputs) to the pre-activations.

        `previous(map)` is `map` of all E y_{i-1}: (Ty, B, columns of the map). Returns the states s_0, ..., s_Ty,
        (Ty + 1, B, state), and the rest of maps c_i, beyond the unit's inputs, (Ty or 1, B, p - inputs).
        """


def make_attention(architecture: Architecture) -> Attention:
    """The attention that `architecture` names."""
    module, name = MODULES[architecture.attention]
    attention: Attention = getattr(importlib.import_module(module), name)(architecture)
    return attention
