"""The additive attention in the fast loop: all of a step but the product W_a s_{i-1} (A.2).

Linear maps of c_i are the same weighted sums of the mapped annotations. So the loop weights values, the annotations
mapped to what they add to the unit's pre-activations, and never forms c_i itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import torch
from torch import Tensor

from nmt.model.fast import choice
from nmt.model.fast.steps import additive as additive_steps


def _functions(tensor: Tensor) -> ModuleType:
    if not choice.kernels_wanted(tensor):
        return additive_steps
    from nmt.model.fast.kernels import additive as additive_kernels

    return additive_kernels


class FastAdditive:
    """Queries of n' columns. Tensors: W_a (n', n); values (B, Tx, 3n), keys (B, Tx, n'), mask (B, Tx), v_a (n')."""

    def __init__(self, alignment: int) -> None:
        self.queries = alignment

    def prepare(self, tensors: Sequence[Tensor], dtype: torch.dtype) -> list[Tensor]:
        """Values and keys in the type of products on a GPU, else in that of v_a.

        On a CPU, batched products with a single row are slower in bfloat16.
        """
        values, keys, mask, v_a = tensors
        held = dtype if choice.kernels_wanted(values) else v_a.dtype
        return [values.to(held), keys.to(held), mask, v_a]

    def allocate(self, projected: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Room for the alignments (T, B, Tx)."""
        return [projected.new_empty(*projected.shape[:-1], tensors[0].shape[1])]

    def attend(
        self, t: int, query: Tensor, inputs: Tensor, tensors: Sequence[Tensor], records: Sequence[Tensor]
    ) -> Tensor:
        """alpha_i into the record; returns the inputs plus [C; C_z; C_r] c_i, (B, 3n)."""
        values, keys, mask, v_a = tensors
        return _functions(inputs).attend(query, keys, mask, v_a, values, records[0], inputs)

    def accumulators(self, state: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Zeros for the gradients of the keys (B, Tx, n'), still without the factor v_a, and of v_a by sentence."""
        keys = tensors[1]
        return [torch.zeros_like(keys, dtype=state.dtype), state.new_zeros(len(keys), self.queries)]

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
        """Through c_i, the softmax and the tanh to the query (B, n')."""
        values, keys, _, v_a = tensors
        _functions(grad_record).attend_backward(
            grad_inputs, grad_record, records[0], query, keys, v_a, values, *accumulators, out
        )

    def gradients(
        self,
        grad_inputs: Tensor,
        grad_queries: Tensor,
        tensors: Sequence[Tensor],
        records: Sequence[Tensor],
        accumulators: Sequence[Tensor],
    ) -> tuple[Tensor | None, ...]:
        """The gradients of values, keys and v_a."""
        (alignments,), (grad_keys, grad_v) = records, accumulators
        grad_values = torch.bmm(alignments.permute(1, 2, 0).to(grad_inputs.dtype), grad_inputs.transpose(0, 1))
        return grad_values, grad_keys.mul_(tensors[3]), None, grad_v.sum(dim=0)
