"""The LSTM in the fast loop: all of a step but the product of h_{i-1} with U, U_i, U_f and U_o."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import torch
from torch import Tensor

from nmt.model.fast import choice
from nmt.model.fast.steps import lstm as lstm_steps


def _functions(tensor: Tensor) -> ModuleType:
    if not choice.kernels_wanted(tensor):
        return lstm_steps
    from nmt.model.fast.kernels import lstm as lstm_kernels

    return lstm_kernels


class FastLSTM:
    """n units; inputs are those of candidate, input, forget and output gate, the weight [U; U_i; U_f; U_o] (4n, n).

    All four take the joined product with h_{i-1}: no inputs are late.
    """

    late = 0

    def __init__(self, hidden: int) -> None:
        self.hidden, self.state, self.inputs = hidden, 2 * hidden, 4 * hidden

    def allocate(self, projected: Tensor, dtype: torch.dtype) -> list[Tensor]:
        """Room for g, i, f and o (..., 4n), for tanh(c_i) (..., n), and for whether the state is kept (..., 1)."""
        rows = projected.shape[:-1]
        return [torch.empty_like(projected), projected.new_empty(*rows, self.hidden), projected.new_zeros(*rows, 1)]

    def step(
        self,
        state: Tensor,
        inputs: Tensor,
        product: Tensor,
        weights: Sequence[Tensor],
        saved: Sequence[Tensor],
        present: Tensor | None,
        new: Tensor,
        low_precision: Tensor | None,
    ) -> None:
        """[h_i; c_i] from [h_{i-1}; c_{i-1}]."""
        gates, squashed, kept = saved
        if present is not None:
            torch.sub(1, present.unsqueeze(-1), out=kept)
        _functions(state).cell(
            state, inputs, product, None if present is None else kept, gates, squashed, new, low_precision
        )

    def grad_inputs(
        self, state: Tensor, grad_new: Tensor, weights: Sequence[Tensor], saved: Sequence[Tensor], out: Tensor
    ) -> Tensor:
        """Fill the gradients of the four inputs; return that of [h_{i-1}; c_{i-1}] (..., 2n), but for the product."""
        return _functions(state).cell_backward(state, grad_new, *saved, out)

    def grad_state(
        self, arriving: Tensor, grad_new: Tensor, through: Tensor | None, grad_product: Tensor, saved: Sequence[Tensor]
    ) -> Tensor:
        """The gradient of [h_{i-1}; c_{i-1}]: from outside, through the cell, and of h_{i-1} through the product."""
        assert through is not None
        return _functions(arriving).state_backward(arriving, through, grad_product)

    def grad_weights(self, grad_inputs: Tensor, saved: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """None: the joined weight is the only one."""
        return ()
