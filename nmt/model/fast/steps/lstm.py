"""A step of the LSTM between the products, in plain PyTorch.

Tensors are (B, columns) or, with D directions side by side, (D, B, columns). A state is [h; c], both (B, n).
"""

from __future__ import annotations

import torch
from torch import Tensor


def cell(
    state: Tensor,
    inputs: Tensor,
    product: Tensor,
    kept: Tensor | None,
    gates: Tensor,
    squashed: Tensor,
    new: Tensor,
    low_precision: Tensor | None = None,
) -> None:
    """[g; i; f; o] into `gates` (B, 4n), tanh of the new c into `squashed` (B, n), the new state into `new` (B, 2n).

    inputs and product (B, 4n) add up to the pre-activations. kept (B, 1) is 1 where the state must not change, else 0:
    there g, i and o are 0 and f is 1. `low_precision` (B, n), if given, takes the new h.
    """
    n = squashed.shape[-1]
    torch.add(inputs, product, out=gates)
    candidate, enter, forget, leave = gates.split(n, dim=-1)
    candidate.mul_(2)
    gates.sigmoid_()
    candidate.mul_(2).sub_(1)  # tanh(x) = 2 sigma(2x) - 1, which is faster
    if kept is not None:
        gates.mul_(1 - kept)
        forget.add_(kept)
    (before, c), (h, new_c) = state.split(n, dim=-1), new.split(n, dim=-1)
    torch.mul(forget, c, out=new_c).addcmul_(enter, candidate)
    torch.mul(new_c, 2, out=squashed).sigmoid_().mul_(2).sub_(1)
    torch.mul(leave, squashed, out=h)
    if kept is not None:
        h.addcmul_(kept, before)
    if low_precision is not None:
        low_precision.copy_(h)


def cell_backward(
    state: Tensor, grad_new: Tensor, gates: Tensor, squashed: Tensor, kept: Tensor, out: Tensor
) -> Tensor:
    """From the gradient of the new state (B, 2n) to those of the inputs (B, 4n) in `out`.

    Returns the gradient of the state (B, 2n), without that through the product.
    """
    n = squashed.shape[-1]
    g, i, f, o = gates.split(n, dim=-1)
    grad_h, grad_c = grad_new.split(n, dim=-1)
    grad_c = torch.addcmul(grad_c, grad_h * o, 1 - squashed * squashed)
    torch.mul(grad_c * i, 1 - g * g, out=out[..., :n])
    torch.mul(grad_c * g, i * (1 - i), out=out[..., n : 2 * n])
    torch.mul(grad_c * state[..., n:], f * (1 - f), out=out[..., 2 * n : 3 * n])
    torch.mul(grad_h * squashed, o * (1 - o), out=out[..., 3 * n :])
    return torch.cat([kept * grad_h, grad_c.mul_(f)], dim=-1)


def state_backward(arriving: Tensor, through: Tensor, grad_product: Tensor) -> Tensor:
    """The gradient of the state (B, 2n), a new tensor.

    arriving (B, 2n) comes from outside, through (B, 2n) through the cell, and grad_product (B, n) is that of h alone,
    from its product with the unit's matrices (and with the query's).
    """
    total = arriving + through
    total[..., : grad_product.shape[-1]] += grad_product
    return total
