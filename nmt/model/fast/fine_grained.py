"""The fine-grained attention in the fast loop: all of a step but the query.

A dimension of c_i has weights of its own, so c_i is formed, and mapped, in every step. Of each step the loop keeps c_i
and alpha_i, in the type of products: the tanh is made again for the backward pass, which is cheap beside its product
with V, a third of all work of the attention, which would have to be made again for alpha_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import torch
from torch import Tensor

from nmt.model.fast import choice
from nmt.model.fast.steps import fine_grained as fine_grained_steps


def _functions(tensor: Tensor) -> ModuleType:
    if not choice.kernels_wanted(tensor):
        return fine_grained_steps
    from nmt.model.fast.kernels import fine_grained as fine_grained_kernels

    return fine_grained_kernels


class FastFineGrained:
    """Queries of n' columns.

    Tensors: W_a (n', n); annotations (B, Tx, 2n), keys (B, Tx, n'), mask (B, Tx), V (2n, n') and, for the context, the
    unit's matrices C (inputs, 2n).
    """

    def __init__(self, alignment: int) -> None:
        self.queries = alignment

    def prepare(self, tensors: Sequence[Tensor], dtype: torch.dtype) -> list[Tensor]:
        """V and C in the type of products, annotations and keys in that of V."""
        annotations, keys, mask, V, C = tensors
        return [annotations.to(V.dtype), keys.to(V.dtype), mask, V.to(dtype), C.to(dtype)]

    def allocate(self, projected: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Room for the contexts (T, B, 2n) and the weights (T, B, Tx 2n)."""
        annotations, _, _, V, _ = tensors
        rows = projected.shape[:-1]
        weights = V.new_empty(*rows, annotations.shape[1:].numel())
        return [projected.new_empty(*rows, len(V)), weights]

    def attend(
        self, t: int, query: Tensor, inputs: Tensor, tensors: Sequence[Tensor], records: Sequence[Tensor]
    ) -> Tensor:
        """c_i and alpha_i into the records; returns the inputs plus C c_i."""
        annotations, keys, mask, V, C = tensors
        context, weights = records
        _functions(inputs).attend(query, keys, mask, V, annotations, weights.view_as(annotations), context)
        return inputs + context.to(C.dtype) @ C.T

    def accumulators(self, state: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Zeros for the gradients of the annotations, of the keys and of V."""
        annotations, keys, _, V, _ = tensors
        return [torch.zeros_like(one, dtype=state.dtype) for one in (annotations, keys, V)]

    def backward(
        self,
        t: int,
        grad_inputs: Tensor,
        grad_record: Tensor,
        query: Tensor,
        tensors: Sequence[Tensor],
        records: Sequence[Tensor],
        accumulators: Sequence[Tensor],
        out: Tensor,
    ) -> None:
        """Through the maps, c_i, the softmax and the tanh to the query (B, n')."""
        annotations, keys, _, V, C = tensors
        context, weights = records
        grad_annotations, grad_keys, grad_V = accumulators
        _functions(context).attend_backward(
            grad_record + grad_inputs @ C,
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
        self,
        grad_inputs: Tensor,
        grad_queries: Tensor,
        tensors: Sequence[Tensor],
        records: Sequence[Tensor],
        accumulators: Sequence[Tensor],
    ) -> tuple[Tensor | None, ...]:
        """The gradients of annotations, keys, V and C."""
        grad_annotations, grad_keys, grad_V = accumulators
        contexts = records[0].flatten(0, 1).to(grad_inputs.dtype)
        return grad_annotations, grad_keys, None, grad_V, grad_inputs.flatten(0, 1).T @ contexts
