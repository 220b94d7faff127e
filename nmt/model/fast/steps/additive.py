"""A step of the additive attention between the products, in plain PyTorch."""

from __future__ import annotations

import torch
from torch import Tensor


def attend(
    query: Tensor,
    keys: Tensor,
    mask: Tensor,
    v_a: Tensor,
    values: Tensor,
    alignment: Tensor,
    added: Tensor | None = None,
) -> Tensor:
    """alpha_i into `alignment` (B, Tx); returns c_i, plus `added` if given, (B, p) in the alignment's type.

    query (B, n') is W_a s_{i-1}, keys (B, Tx, n') are the U_a h_j, mask (B, Tx) is False on padding, values
    (B, Tx, p), in the type of the alignment, are what is weighted.
    """
    energy = _sigma(query, keys, v_a) @ (2 * v_a)  # without the sum of v_a, which changes no softmax
    torch.softmax(energy.masked_fill_(~mask, -torch.inf), dim=-1, out=alignment)
    context = torch.bmm(alignment.unsqueeze(1), values).squeeze(1)
    return context if added is None else added + context


def attend_backward(
    grad_context: Tensor,
    grad_alignment: Tensor,
    alignment: Tensor,
    query: Tensor,
    keys: Tensor,
    v_a: Tensor,
    values: Tensor,
    grad_keys: Tensor,
    grad_v: Tensor,
    grad_query: Tensor,
) -> None:
    """Backward through `attend`, without the gradient of the values, which is one product over all steps.

    From the gradients of c_i (B, p) and, from outside, of alpha_i (B, Tx): fills `grad_query` (B, n') and adds to
    `grad_keys` (B, Tx, n'), which still lacks the factor v_a, and to `grad_v` (B, n'), the gradient of v_a by sentence.
    """
    weighed = grad_alignment + torch.bmm(grad_context.to(alignment.dtype).unsqueeze(1), values.transpose(1, 2)).squeeze(
        1
    )
    energy = (alignment * (weighed - (alignment * weighed).sum(dim=-1, keepdim=True))).unsqueeze(1)
    sigma = _sigma(query, keys, v_a)
    grad_v += torch.bmm(2 * energy, sigma).squeeze(1)  # the energies' gradients of a sentence sum to 0
    slope = torch.addcmul(sigma, sigma, sigma, value=-1, out=sigma)  # a quarter of the tanh's
    energy *= 4
    grad_keys.addcmul_(slope, energy.transpose(1, 2))
    torch.mul(torch.bmm(energy, slope).squeeze(1), v_a, out=grad_query)


def _sigma(query: Tensor, keys: Tensor, v_a: Tensor) -> Tensor:
    """sigma(2x) = (tanh(x) + 1) / 2 of x = W_a s_{i-1} + U_a h_j, (B, Tx, n'): see `tanh_of_sum`."""
    return torch.add(2 * query.to(v_a.dtype).unsqueeze(1), keys, alpha=2).sigmoid_()
