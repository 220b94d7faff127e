"""The additive attention in the fast loop: all of a step except the product W_a s_{i-1} (A.2).

A linear map of c_i is the same weighted sum of the mapped annotations. So the loop weights the values, which are the
annotations mapped to what they add to the unit's pre-activations, and never forms c_i itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.model.fast.choice import kernel, kernels_wanted


class FastAdditive:
    """Queries of n' columns. Tensors: W_a (n', n); values (B, Tx, 3n), keys (B, Tx, n'), mask (B, Tx), v_a (n').

    It saves alpha_i.
    """

    def __init__(self, alignment: int) -> None:
        self.queries = alignment

    def prepare(self, tensors: Sequence[Tensor], dtype: torch.dtype) -> list[Tensor]:
        """Values and keys in the type of products on a GPU, otherwise in that of v_a.

        On a CPU, batched products with a single row are slower in bfloat16.
        """
        values, keys, mask, v_a = tensors
        held = dtype if kernels_wanted(values) else v_a.dtype
        return [values.to(held), keys.to(held), mask, v_a]

    def allocate(self, projected: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
        return [projected.new_empty(*projected.shape[:-1], tensors[0].shape[1])]

    def attend(self, query: Tensor, inputs: Tensor, tensors: Sequence[Tensor], saved: Sequence[Tensor]) -> Tensor:
        values, keys, mask, v_a = tensors
        return attend(query, keys, mask, v_a, values, saved[0], inputs)

    def accumulators(self, state: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
        """For the gradients of the keys (B, Tx, n'), before scaling by v_a, and of v_a per sentence."""
        keys = tensors[1]
        return [torch.zeros_like(keys, dtype=state.dtype), state.new_zeros(len(keys), self.queries)]

    def backward(
        self,
        grad_inputs: Tensor,
        grad_saved: Tensor,
        query: Tensor,
        tensors: Sequence[Tensor],
        saved: Sequence[Tensor],
        accumulators: Sequence[Tensor],
        out: Tensor,
    ) -> None:
        (values, keys, _, v_a), (grad_keys, grad_v) = tensors, accumulators
        attend_backward(grad_inputs, grad_saved, saved[0], query, keys, v_a, values, grad_keys, grad_v, out)

    def gradients(
        self, grad_inputs: Tensor, tensors: Sequence[Tensor], saved: Sequence[Tensor], accumulators: Sequence[Tensor]
    ) -> tuple[Tensor | None, ...]:
        (alignments,), (grad_keys, grad_v) = saved, accumulators
        grad_values = torch.bmm(alignments.permute(1, 2, 0).to(grad_inputs.dtype), grad_inputs.transpose(0, 1))
        return grad_values, grad_keys.mul_(tensors[3]), None, grad_v.sum(dim=0)


@kernel("nmt.model.fast.kernels.additive")
def attend(
    query: Tensor,
    keys: Tensor,
    mask: Tensor,
    v_a: Tensor,
    values: Tensor,
    alignment: Tensor,
    added: Tensor | None = None,
) -> Tensor:
    """Store alpha_i in `alignment` (B, Tx); return the weighted sum of the values, plus `added` if given, (B, p).

    query (B, n') is W_a s_{i-1}, keys (B, Tx, n') are the U_a h_j, mask (B, Tx) is False on padding. Values (B, Tx, p)
    are what is weighted; except in the kernel, they have the type of the alignment, which the result always has.
    """
    energy = _sigma(query, keys, v_a) @ (2 * v_a)  # without the sum of v_a, a constant that changes no softmax
    torch.softmax(energy.masked_fill_(~mask, -torch.inf), dim=-1, out=alignment)
    context = torch.bmm(alignment.unsqueeze(1), values).squeeze(1)
    return context if added is None else added + context


@kernel("nmt.model.fast.kernels.additive")
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
    """Backward through `attend`, except for the gradient of the values, which is one product over all steps.

    From the gradients of c_i (B, p) and, from outside the loop, of alpha_i (B, Tx), fills `grad_query` (B, n'). Adds to
    `grad_keys` (B, Tx, n'), contiguous and before scaling by v_a, and to `grad_v` (B, n'), that of v_a per sentence.
    """
    weighed = grad_alignment + torch.bmm(grad_context.to(alignment.dtype).unsqueeze(1), values.transpose(1, 2)).squeeze(
        1
    )
    energy = (alignment * (weighed - (alignment * weighed).sum(dim=-1, keepdim=True))).unsqueeze(1)
    sigma = _sigma(query, keys, v_a)
    grad_v += torch.bmm(2 * energy, sigma).squeeze(1)  # without -1: a sentence's gradients of energies sum to 0
    slope = torch.addcmul(sigma, sigma, sigma, value=-1, out=sigma)  # a quarter of the tanh's
    energy *= 4
    grad_keys.addcmul_(slope, energy.transpose(1, 2))
    torch.mul(torch.bmm(energy, slope).squeeze(1), v_a, out=grad_query)


def _sigma(query: Tensor, keys: Tensor, v_a: Tensor) -> Tensor:
    """sigma(2x) = (tanh(x) + 1) / 2 of x = W_a s_{i-1} + U_a h_j, (B, Tx, n'): see `tanh_of_sum`."""
    return torch.add(2 * query.to(v_a.dtype).unsqueeze(1), keys, alpha=2).sigmoid_()
