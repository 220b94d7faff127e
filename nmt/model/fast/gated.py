"""The gated unit in the fast loop: all of a step but the product of the state with U_z and U_r (A.1, A.2)."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import torch
from torch import Tensor

from nmt.model.fast import choice
from nmt.model.fast.steps import gated as gated_steps


def _functions(tensor: Tensor) -> ModuleType:
    if not choice.kernels_wanted(tensor):
        return gated_steps
    from nmt.model.fast.kernels import gated as gated_kernels

    return gated_kernels


class FastGated:
    """n gated units; inputs are those of candidate, update and reset, weights are [U_z; U_r] (2n, n) and U (n, n).

    U is applied to r o s, which the joined product with s cannot contain: the candidate's inputs are the late ones.
    """

    def __init__(self, hidden: int) -> None:
        self.hidden = self.state = self.late = hidden
        self.inputs = 3 * hidden

    def allocate(self, projected: Tensor, dtype: torch.dtype) -> list[Tensor]:
        """Room for s~ (..., n), for z and r (..., 2n) and, as an operand of products, for r o s (..., n)."""
        rows, n = projected.shape[:-1], self.hidden
        return [
            projected.new_empty(*rows, n),
            projected.new_empty(*rows, 2 * n),
            projected.new_empty(*rows, n, dtype=dtype),
        ]

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
        """s_i from s_{i-1}: both gates, then the candidate."""
        (U,), (candidate, gate, reset) = weights, saved
        functions = _functions(state)
        functions.gates(state, inputs, product, gate, reset, present)
        functions.candidate(state, inputs, reset @ U.mT, gate, candidate, new, low_precision)

    def grad_inputs(
        self, state: Tensor, grad_new: Tensor, weights: Sequence[Tensor], saved: Sequence[Tensor], out: Tensor
    ) -> Tensor:
        """Fill the gradients of the three inputs; return that of r o s (..., n)."""
        (U,), (candidate, gate, _) = weights, saved
        functions = _functions(state)
        functions.candidate_backward(state, grad_new, candidate, gate, out)
        grad_reset = out[..., : self.hidden] @ U
        functions.reset_backward(state, grad_reset, gate, out)
        return grad_reset

    def grad_state(
        self, arriving: Tensor, grad_new: Tensor, through: Tensor | None, grad_product: Tensor, saved: Sequence[Tensor]
    ) -> Tensor:
        """The gradient of s_{i-1}: from outside, through s_i, through r o s_{i-1} and through the joined product."""
        return _functions(arriving).state_backward(arriving, grad_new, through, grad_product, saved[1])

    def grad_weights(self, grad_inputs: Tensor, saved: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The gradient of U."""
        return (grad_inputs[..., : self.hidden, :] @ saved[2].flatten(-3, -2),)
