"""The gated unit in the fast loop: all of a step except the product of the state with U_z and U_r (A.1, A.2).

Tensors are (B, columns) or, with D directions side by side, (D, B, columns).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.model.fast import tanh_of_sum
from nmt.model.fast.choice import kernel


class FastGated:
    """n gated units; inputs are those of candidate, update and reset, weights are [U_z; U_r] (2n, n) and U (n, n).

    U is applied to r o s and so cannot be part of the joined product with s: the candidate's columns are unjoined. It
    saves s~ (..., n), z and r (..., 2n) and, in the type of products, r o s (..., n).
    """

    def __init__(self, hidden: int) -> None:
        self.hidden = self.state = self.unjoined = hidden
        self.inputs = 3 * hidden

    def allocate(self, projected: Tensor, dtype: torch.dtype) -> list[Tensor]:
        rows, n = projected.shape[:-1], self.hidden
        return [
            projected.new_empty(*rows, n),
            projected.new_empty(*rows, 2 * n),
            projected.new_empty(*rows, n, dtype=dtype),
        ]

    def step(
        self,
        inputs: Tensor,
        state: Tensor,
        product: Tensor,
        weights: Sequence[Tensor],
        saved: Sequence[Tensor],
        present: Tensor | None,
        new: Tensor,
        low_precision: Tensor | None,
    ) -> None:
        (U,), (candidate, gate, reset) = weights, saved
        gates(state, inputs, product, gate, reset, present)
        propose(state, inputs, reset @ U.mT, gate, candidate, new, low_precision)

    def grad_inputs(
        self, state: Tensor, grad_new: Tensor, weights: Sequence[Tensor], saved: Sequence[Tensor], out: Tensor
    ) -> Tensor:
        """Returns the gradient of r o s (..., n)."""
        (U,), (candidate, gate, _) = weights, saved
        propose_backward(state, grad_new, candidate, gate, out)
        grad_reset = out[..., : self.hidden] @ U
        reset_backward(state, grad_reset, gate, out)
        return grad_reset

    def grad_state(
        self, outside: Tensor, grad_new: Tensor, inner: Tensor, grad_product: Tensor, saved: Sequence[Tensor]
    ) -> Tensor:
        return state_backward(outside, grad_new, inner, grad_product, saved[1])

    def grad_weights(self, grad_inputs: Tensor, saved: Sequence[Tensor]) -> tuple[Tensor, ...]:
        return (grad_inputs[..., : self.hidden, :] @ saved[2].flatten(-3, -2),)


@kernel("nmt.model.fast.kernels.gated")
def gates(
    state: Tensor, inputs: Tensor, product: Tensor, gate: Tensor, reset: Tensor, present: Tensor | None = None
) -> None:
    """Store z, r = sigma(... + [U_z; U_r] s) in `gate` (B, 2n), z times `present` (B,) if given, and r o s in `reset`.

    inputs (B, 3n) are those of candidate, update and reset, product (B, 2n) is [U_z; U_r] s, state (B, n).
    """
    n = state.shape[-1]
    torch.add(inputs[..., n:], product, out=gate).sigmoid_()
    if present is not None:
        gate[..., :n] *= present.unsqueeze(-1)
    torch.mul(gate[..., n:], state, out=reset)


@kernel("nmt.model.fast.kernels.gated")
def propose(
    state: Tensor,
    inputs: Tensor,
    product: Tensor,
    gate: Tensor,
    candidate: Tensor,
    new: Tensor,
    low_precision: Tensor | None = None,
) -> None:
    """Store s~ = tanh(... + U [r o s]) in `candidate` (B, n) and s + z o (s~ - s) in `new` and `low_precision`.

    inputs (B, 3n), product (B, n) is U [r o s], state (B, n), gate (B, 2n) is [z, r].
    """
    n = state.shape[-1]
    tanh_of_sum(inputs[..., :n], product, out=candidate)
    torch.lerp(state, candidate, gate[..., :n], out=new)
    if low_precision is not None:
        low_precision.copy_(new)


@kernel("nmt.model.fast.kernels.gated")
def propose_backward(state: Tensor, grad_new: Tensor, candidate: Tensor, gate: Tensor, out: Tensor) -> None:
    """Store the gradients of the candidate's and update gate's inputs in `out` (B, 3n), from that of the new state."""
    n = state.shape[-1]
    z = gate[..., :n]
    torch.mul(grad_new * z, 1 - candidate * candidate, out=out[..., :n])
    torch.mul(grad_new * (candidate - state), z * (1 - z), out=out[..., n : 2 * n])


@kernel("nmt.model.fast.kernels.gated")
def reset_backward(state: Tensor, grad_reset: Tensor, gate: Tensor, out: Tensor) -> None:
    """Store the gradient of the reset gate's inputs in `out` (B, 3n), from that of r o s (B, n)."""
    n = state.shape[-1]
    r = gate[..., n:]
    torch.mul(grad_reset * state, r * (1 - r), out=out[..., 2 * n :])


@kernel("nmt.model.fast.kernels.gated")
def state_backward(outside: Tensor, grad_new: Tensor, grad_reset: Tensor, grad_product: Tensor, gate: Tensor) -> Tensor:
    """The gradient of s (B, n), a new tensor.

    outside (B, n) comes from outside the loop, grad_new from the new state, in which s has the share 1 - z, grad_reset
    from r o s, and grad_product from the product of s with U_z and U_r (and with the query's matrix).
    """
    z, r = gate.chunk(2, dim=-1)
    return torch.addcmul(outside + grad_product, grad_new, 1 - z).add_(grad_reset * r)
