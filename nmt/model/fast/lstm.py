"""The LSTM in the fast loop: all of a step except the product of h_{i-1} with U, U_i, U_f and U_o.

Tensors are (B, columns) or, with D directions side by side, (D, B, columns). A state is [h; c], both (B, n).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.model.fast.choice import kernel


class FastLSTM:
    """n units; inputs are those of candidate, input, forget and output gate, the weight [U; U_i; U_f; U_o] (4n, n).

    The joined product adds to all four. It saves g, i, f and o (..., 4n), tanh(c_i) (..., n), and whether the state is
    kept (..., 1).
    """

    unjoined = 0

    def __init__(self, hidden: int) -> None:
        self.hidden, self.state, self.inputs = hidden, 2 * hidden, 4 * hidden

    def allocate(self, projected: Tensor, dtype: torch.dtype) -> list[Tensor]:
        rows = projected.shape[:-1]
        return [torch.empty_like(projected), projected.new_empty(*rows, self.hidden), projected.new_zeros(*rows, 1)]

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
        gates, squashed, kept = saved
        if present is not None:
            torch.sub(1, present.unsqueeze(-1), out=kept)
        cell(state, inputs, product, None if present is None else kept, gates, squashed, new, low_precision)

    def grad_inputs(
        self, state: Tensor, grad_new: Tensor, weights: Sequence[Tensor], saved: Sequence[Tensor], out: Tensor
    ) -> Tensor:
        """Returns the gradient of [h_{i-1}; c_{i-1}] (..., 2n), except what comes through the joined product."""
        gates, squashed, kept = saved
        return cell_backward(state, grad_new, gates, squashed, kept, out)

    def grad_state(
        self, outside: Tensor, grad_new: Tensor, inner: Tensor, grad_product: Tensor, saved: Sequence[Tensor]
    ) -> Tensor:
        return state_backward(outside, inner, grad_product)

    def grad_weights(self, grad_inputs: Tensor, saved: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """None: the joined weight is the only one."""
        return ()


@kernel("nmt.model.fast.kernels.lstm")
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
    """Store [g; i; f; o] in `gates` (B, 4n), tanh of the new c in `squashed` (B, n), the new state in `new` (B, 2n).

    inputs and product (B, 4n) add up to the pre-activations. kept (B, 1) is 1 where the state must not change (there g,
    i and o are 0 and f is 1), otherwise 0. `low_precision` (B, n), if given, takes the new h.
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


@kernel("nmt.model.fast.kernels.lstm")
def cell_backward(
    state: Tensor, grad_new: Tensor, gates: Tensor, squashed: Tensor, kept: Tensor, out: Tensor
) -> Tensor:
    """Store the gradient of the inputs (B, 4n) in `out`, from that of the new state (B, 2n).

    Returns the gradient of the state (B, 2n), except what comes through the product.
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


@kernel("nmt.model.fast.kernels.lstm")
def state_backward(outside: Tensor, inner: Tensor, grad_product: Tensor) -> Tensor:
    """The gradient of the state (B, 2n), a new tensor.

    outside (B, 2n) comes from outside the loop, inner (B, 2n) through the cell; grad_product (B, n) is only that of h,
    from its product with the unit's matrices (and with the query's).
    """
    total = outside + inner
    total[..., : grad_product.shape[-1]] += grad_product
    return total
