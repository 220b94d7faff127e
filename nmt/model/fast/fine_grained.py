"""The fine-grained attention in the fast loop: all of a step except the query (Choi et al. 2017, Eqs. 7 to 9).

Each dimension of c_i has its own weights, so c_i is formed, and mapped, in every step. The loop saves the c_i and
alpha_i of each step, these in the type of products: computing alpha_i again would need the product with V, a third of
the attention's work. The backward pass computes only the tanh again, which is cheap. A product with V takes all
positions of all sentences at once. Products have the type of V, sums that of the keys.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.model.fast import tanh_of_sum
from nmt.model.fast.choice import kernel


class FastFineGrained:
    """Queries of n' columns.

    Tensors: W_a (n', n); annotations (B, Tx, 2n), keys (B, Tx, n'), mask (B, Tx), V (2n, n') and, for the context, the
    unit's matrices C (inputs, 2n). It saves c_i (B, 2n) and alpha_i (B, Tx 2n).
    """

    def __init__(self, alignment: int) -> None:
        self.queries = alignment

    def prepare(self, tensors: Sequence[Tensor], dtype: torch.dtype) -> list[Tensor]:
        """V and C in the type of products, annotations and keys in that of V."""
        annotations, keys, mask, V, C = tensors
        return [annotations.to(V.dtype), keys.to(V.dtype), mask, V.to(dtype), C.to(dtype)]

    def allocate(self, projected: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
        annotations, _, _, V, _ = tensors
        rows = projected.shape[:-1]
        weights = V.new_empty(*rows, annotations.shape[1:].numel())
        return [projected.new_empty(*rows, len(V)), weights]

    def attend(self, query: Tensor, inputs: Tensor, tensors: Sequence[Tensor], saved: Sequence[Tensor]) -> Tensor:
        annotations, keys, mask, V, C = tensors
        context, weights = saved
        attend(query, keys, mask, V, annotations, weights.view_as(annotations), context)
        return inputs + context.to(C.dtype) @ C.T

    def accumulators(self, state: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
        """For the gradients of the annotations, of the keys and of V."""
        annotations, keys, _, V, _ = tensors
        return [torch.zeros_like(one, dtype=state.dtype) for one in (annotations, keys, V)]

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
        annotations, keys, _, V, C = tensors
        context, weights = saved
        grad_context = grad_saved + grad_inputs @ C
        grad_annotations, grad_keys, grad_V = accumulators
        attend_backward(
            grad_context,
            context,
            weights.view_as(annotations),
            query,
            keys,
            V,
            annotations,
            grad_annotations,
            grad_keys,
            grad_V,
            out,
        )

    def gradients(
        self, grad_inputs: Tensor, tensors: Sequence[Tensor], saved: Sequence[Tensor], accumulators: Sequence[Tensor]
    ) -> tuple[Tensor | None, ...]:
        grad_annotations, grad_keys, grad_V = accumulators
        contexts = saved[0].flatten(0, 1).to(grad_inputs.dtype)
        return grad_annotations, grad_keys, None, grad_V, grad_inputs.flatten(0, 1).T @ contexts


@kernel("nmt.model.fast.kernels.fine_grained")
def attend(
    query: Tensor, keys: Tensor, mask: Tensor, V: Tensor, annotations: Tensor, weights: Tensor, context: Tensor
) -> None:
    """Store alpha_i in `weights` (B, Tx, 2n), in the type of V, and c_i in `context` (B, 2n).

    query (B, n') and keys (B, Tx, n') are summed, mask (B, Tx) is False on padding, V (2n, n') maps to the scores,
    annotations (B, Tx, 2n) are what is weighted.
    """
    scores = _hidden(query, keys).to(V.dtype) @ V.T
    padding = scores.new_zeros(mask.shape).masked_fill_(~mask, -torch.inf)
    torch.softmax(scores.add_(padding.unsqueeze(-1)), dim=1, out=weights)
    torch.sum(weights * annotations, dim=1, out=context)


@kernel("nmt.model.fast.kernels.fine_grained")
def attend_backward(
    grad_context: Tensor,
    context: Tensor,
    weights: Tensor,
    query: Tensor,
    keys: Tensor,
    V: Tensor,
    annotations: Tensor,
    grad_annotations: Tensor,
    grad_keys: Tensor,
    grad_V: Tensor,
    grad_query: Tensor,
) -> None:
    """Backward through `attend`, from the gradient of c_i (B, 2n).

    Fills `grad_query` (B, n') and adds to `grad_annotations` (B, Tx, 2n), `grad_keys` (B, Tx, n') and `grad_V`
    (2n, n').
    """
    arriving = grad_context.unsqueeze(1)
    alpha = weights.to(annotations.dtype)
    grad_annotations.addcmul_(alpha, arriving)
    # The backward pass of a softmax subtracts the weighted mean of its gradients dL/dc_i o h_j, here dL/dc_i o c_i.
    grad_scores = (annotations - context.unsqueeze(1)).mul_(arriving).mul_(alpha).to(V.dtype)
    hidden = _hidden(query, keys).to(V.dtype)
    rows, seen = grad_scores.flatten(0, 1).T, hidden.flatten(0, 1)
    if grad_V.dtype == V.dtype:
        grad_V.addmm_(rows, seen)
    else:
        grad_V += rows @ seen
    grad_sum = torch.ops.aten.tanh_backward(grad_scores @ V, hidden)
    grad_keys += grad_sum
    grad_query.copy_(grad_sum.sum(dim=1))


def _hidden(query: Tensor, keys: Tensor) -> Tensor:
    """tanh of the sum of a query (B, n') and keys (B, Tx, n'): (B, Tx, n')."""
    return tanh_of_sum(query.unsqueeze(1), keys)
