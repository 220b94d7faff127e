"""Recurrent units of encoder and decoder, and their interface."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod

from torch import Tensor, nn

from nmt.model.fast.loop import Recurrence
from nmt.model.products import Layer
from nmt.settings.variant import UNITS, Architecture


class Unit(Layer, ABC):
    """n hidden units over m-dimensional inputs and, in the decoder, over contexts of `context` dimensions."""

    inputs: int  # columns of the pre-activations, which are a sum of what input, context and state add
    state: int  # columns of the state; attention, readout and annotations see the first n of them

    @abstractmethod
    def __init__(self, embedding: int, hidden: int, context: int | None = None) -> None:
        super().__init__()
        self.hidden = hidden

    @property
    @abstractmethod
    def context_matrices(self) -> list[nn.Parameter]:
        """The matrices (n, context) that the decoder's unit applies to c_i, in the order of the inputs."""

    @property
    @abstractmethod
    def recurrent_matrices(self) -> list[nn.Parameter]:
        """The matrices (n, n) that the unit applies to its state: their initial weights are orthogonal."""

    @property
    def forget_bias(self) -> nn.Parameter | None:
        """The vector whose initial weights are the setting `forget_bias`, if there is one."""
        return None

    @abstractmethod
    def project(self, embedded: Tensor) -> Tensor:
        """What x = `embedded` (..., m) and the biases add to the pre-activations, (..., inputs)."""

    @abstractmethod
    def step(self, inputs: Tensor, state: Tensor) -> Tensor:
        """The next state (B, state) from `state` and what the input and the context add, (B, inputs)."""

    @abstractmethod
    def recurrence(self) -> Recurrence:
        """The unit as the fast loop sees it, and its recurrent matrices."""

    def library_weights(self) -> list[Tensor] | None:
        """The weights as `torch.lstm` takes them, None for a unit that is no LSTM: see `nmt.model.fast.cudnn`."""
        return None

    def output(self, state: Tensor) -> Tensor:
        """The part of the state (..., state) that attention, readout and annotations see, (..., n)."""
        return state[..., : self.hidden]


def make_unit(architecture: Architecture, context: int | None = None) -> Unit:
    """The unit that `architecture` names. Only its module is imported, so that a model depends on no other unit."""
    module, name = UNITS[architecture.unit]
    kind = getattr(importlib.import_module(module), name)
    unit: Unit = kind(architecture.embedding, architecture.hidden, context)
    return unit
