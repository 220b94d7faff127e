"""A step of the gated unit between the products, in plain PyTorch.

Tensors are (B, columns) or, with D directions side by side, (D, B, columns).
"""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.model.fast.steps import tanh_of_sum


def gates(
    state: Tensor, inputs: Tensor, product: Tensor, gate: Tensor, reset: Tensor, present: Tensor | None = None
) -> None:
    """z, r = sigma(... + [U_z; U_r] s) into `gate` (B, 2n), z times `present` (B,) if given; r o s into `reset`.

    inputs (B, 3n) are those of candidate, update and reset, product (B, 2n) is [U_z; U_r] s, state (B, n).
    """
    n = state.shape[-1]
    torch.add(inputs[..., n:], product, out=gate).sigmoid_()
    if present is not None:
        gate[..., :n] *= present.unsqueeze(-1)
    torch.mul(gate[..., n:], state, out=reset)


def candidate(
    state: Tensor,
    inputs: Tensor,
    product: Tensor,
    gate: Tensor,
    candidate: Tensor,
    new: Tensor,
    low_precision: Tensor | None = None,
) -> None:
    """s~ = tanh(... + U [r o s]) into `candidate` (B, n), s + z o (s~ - s) into `new` and `low_precision`.

    inputs (B, 3n), product (B, n) is U [r o s], state (B, n), gate (B, 2n) is [z, r].
    """
    n = state.shape[-1]
    tanh_of_sum(inputs[..., :n], product, out=candidate)
    torch.lerp(state, candidate, gate[..., :n], out=new)
    if low_precision is not None:
        low_precision.copy_(new)


def candidate_backward(state: Tensor, grad_new: Tensor, candidate: Tensor, gate: Tensor, out: Tensor) -> None:
    """From the gradient of the new state (B, n) to those of the candidate's and the update gate's inputs in `out`."""
    n = state.shape[-1]
    z = gate[..., :n]
    torch.mul(grad_new * z, 1 - candidate * candidate, out=out[..., :n])
    torch.mul(grad_new * (candidate - state), z * (1 - z), out=out[..., n : 2 * n])


def reset_backward(state: Tensor, grad_reset: Tensor, gate: Tensor, out: Tensor) -> None:
    """From the gradient of r o s (B, n) to that of the reset gate's inputs in `out` (B, 3n)."""
    n = state.shape[-1]
    r = gate[..., n:]
    torch.mul(grad_reset * state, r * (1 - r), out=out[..., 2 * n :])


def state_backward(
    arriving: Tensor, grad_new: Tensor, grad_reset: Tensor, grad_product: Tensor, gate: Tensor
) -> Tensor:
    """The gradient of s (B, n), a new tensor.

    arriving (B, n) comes from outside, grad_new from the new state, of which s is the share 1 - z, grad_reset from
    r o s, and grad_product from the product of s with U_z and U_r (and with the query's matrix).
    """
    z, r = gate.chunk(2, dim=-1)
    return torch.addcmul(arriving + grad_product, grad_new, 1 - z).add_(grad_reset * r)
