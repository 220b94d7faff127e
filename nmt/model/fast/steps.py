"""What lies between the matrix products of `nmt.model.fast.loops`, one step at a time, in plain PyTorch.

`nmt.model.fast.kernels` has the same functions as Triton kernels. Results are stored in the type of the tensor that
takes them. The gated unit's functions take (B, .) or, with D directions side by side, (D, B, .).
"""

from __future__ import annotations

import torch
from torch import Tensor


def look(
    query: Tensor,
    keys: Tensor,
    mask: Tensor,
    v_a: Tensor,
    contexts: Tensor,
    alignment: Tensor,
    added: Tensor | None = None,
) -> Tensor:
    """alpha_i into `alignment` (B, Tx); returns c_i, plus `added` where given, (B, p) in the alignment's type.

    query (B, n') is W_a s_{i-1}, keys (B, Tx, n') are the U_a h_j, mask (B, Tx) is False on padding, contexts
    (B, Tx, p), in the alignment's type, are what is weighed.
    """
    energy = _sigma(query, keys, v_a) @ (2 * v_a)  # less the sum of v_a, which changes no softmax
    torch.softmax(energy.masked_fill_(~mask, -torch.inf), dim=-1, out=alignment)
    context = torch.bmm(alignment.unsqueeze(1), contexts).squeeze(1)
    return context if added is None else added + context


def look_backward(
    for_context: Tensor,
    for_alignment: Tensor,
    alignment: Tensor,
    query: Tensor,
    keys: Tensor,
    v_a: Tensor,
    contexts: Tensor,
    for_keys: Tensor,
    for_v: Tensor,
    for_query: Tensor,
) -> None:
    """Backward through `look`, less the contexts' own gradient, which is one product over all steps.

    From the gradients of c_i (B, p) and, from outside, of alpha_i (B, Tx): fills `for_query` (B, n'), adds to
    `for_keys` (B, Tx, n'), which still lacks the factor v_a, and to `for_v` (B, n'), v_a's by sentence.
    """
    weighed = for_alignment + torch.bmm(for_context.to(alignment.dtype).unsqueeze(1), contexts.transpose(1, 2)).squeeze(
        1
    )
    energy = (alignment * (weighed - (alignment * weighed).sum(dim=-1, keepdim=True))).unsqueeze(1)
    sigma = _sigma(query, keys, v_a)
    for_v += torch.bmm(2 * energy, sigma).squeeze(1)  # the energies' gradients of a sentence sum to 0
    slope = torch.addcmul(sigma, sigma, sigma, value=-1, out=sigma)  # a quarter of the tanh's
    energy *= 4
    for_keys.addcmul_(slope, energy.transpose(1, 2))
    torch.mul(torch.bmm(energy, slope).squeeze(1), v_a, out=for_query)


def _sigma(query: Tensor, keys: Tensor, v_a: Tensor) -> Tensor:
    """sigma(2x) = (tanh(x) + 1) / 2 of x = W_a s_{i-1} + U_a h_j, (B, Tx, n'): see `tanh_`."""
    return (keys + query.to(v_a.dtype).unsqueeze(1)).mul_(2).sigmoid_()


def tanh_(x: Tensor) -> Tensor:
    """tanh(x) in place of x.

    On a CPU as 2 sigma(2x) - 1, within rounding of 1 the same: PyTorch's sigmoid takes a sixth of its tanh's time.
    Where gradients are recorded, sigma's result must stay what it is.
    """
    if x.device.type != "cpu" or torch.is_grad_enabled():
        return x.tanh_()
    return x.mul_(2).sigmoid_().mul_(2).sub_(1)


def gates(
    state: Tensor, inputs: Tensor, product: Tensor, gate: Tensor, reset: Tensor, present: Tensor | None = None
) -> None:
    """z, r = sigma(... + [U_z; U_r] s) into `gate` (B, 2n), z times `present` (B,) where given; r o s into `reset`.

    inputs (B, 3n) are for candidate, update and reset, product (B, 2n) is [U_z; U_r] s, state (B, n).
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
    narrow: Tensor | None = None,
) -> None:
    """s~ = tanh(... + U [r o s]) into `candidate` (B, n), s + z o (s~ - s) into `new` and, where given, `narrow`.

    inputs (B, 3n), product (B, n) is U [r o s], state (B, n), gate (B, 2n) is [z, r].
    """
    n = state.shape[-1]
    tanh_(torch.add(inputs[..., :n], product, out=candidate))
    torch.lerp(state, candidate, gate[..., :n], out=new)
    if narrow is not None:
        narrow.copy_(new)


def candidate_backward(state: Tensor, gradient: Tensor, candidate: Tensor, gate: Tensor, out: Tensor) -> None:
    """From the new state's gradient (B, n) to those of what s~ and z are made of: the first 2n columns of `out`."""
    n = state.shape[-1]
    z = gate[..., :n]
    torch.mul(gradient * z, 1 - candidate * candidate, out=out[..., :n])
    torch.mul(gradient * (candidate - state), z * (1 - z), out=out[..., n : 2 * n])


def reset_backward(state: Tensor, through_reset: Tensor, gate: Tensor, out: Tensor) -> None:
    """From the gradient of r o s (B, n) to that of what r is made of: the last n columns of `out` (B, 3n)."""
    n = state.shape[-1]
    r = gate[..., n:]
    torch.mul(through_reset * state, r * (1 - r), out=out[..., 2 * n :])


def state_backward(
    arriving: Tensor, gradient: Tensor, through_reset: Tensor, through_gates: Tensor, gate: Tensor
) -> Tensor:
    """The gradient of s (B, n), a new tensor: all that reaches it, from outside and through the unit.

    arriving (B, n) is what comes from outside, gradient that of the new state, of which 1 - z is kept, through_reset
    that of r o s, through_gates what the products with z's and r's gradients (and the query's) give.
    """
    z, r = gate.chunk(2, dim=-1)
    return torch.addcmul(arriving + through_gates, gradient, 1 - z).add_(through_reset * r)
