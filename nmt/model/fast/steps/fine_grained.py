"""A step of the fine-grained attention, in plain PyTorch.

The product with V is that of all positions of all sentences at once, forward and backward. Products have the type of V;
all sums have that of the keys.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.model.fast.steps import tanh_of_sum


def attend(
    query: Tensor, keys: Tensor, mask: Tensor, V: Tensor, annotations: Tensor, weights: Tensor, context: Tensor
) -> None:
    """alpha_i into `weights` (B, Tx, 2n), in the type of V, and c_i into `context` (B, 2n).

    query (B, n') and keys (B, Tx, n') are summed, mask (B, Tx) is False on padding, V (2n, n') maps to the scores,
    annotations (B, Tx, 2n) are what is weighted.
    """
    scores = _hidden(query, keys).to(V.dtype) @ V.T
    padding = scores.new_zeros(mask.shape).masked_fill_(~mask, -torch.inf)
    torch.softmax(scores.add_(padding.unsqueeze(-1)), dim=1, out=weights)
    torch.sum(weights * annotations, dim=1, out=context)


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
    # A softmax subtracts the weighted mean of its gradients dL/dc_i o h_j, which is dL/dc_i o c_i.
    grad_scores = (annotations - context.unsqueeze(1)).mul_(arriving).mul_(alpha).to(V.dtype)
    hidden = _hidden(query, keys).to(V.dtype)
    rows, seen = grad_scores.flatten(0, 1).T, hidden.flatten(0, 1)
    if grad_V.dtype == V.dtype:
        grad_V.addmm_(rows, seen)
    else:
        grad_V += rows @ seen
    through = torch.ops.aten.tanh_backward(grad_scores @ V, hidden)
    grad_keys += through
    grad_query.copy_(through.sum(dim=1))


def _hidden(query: Tensor, keys: Tensor) -> Tensor:
    """tanh of the sum of a query (B, n') and keys (B, Tx, n'): (B, Tx, n')."""
    return tanh_of_sum(query.unsqueeze(1), keys)
