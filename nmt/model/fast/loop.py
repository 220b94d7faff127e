"""One loop for every recurrence: any unit, over a sentence in one or both directions, with any attention or none.

It computes what the readable steps of `nmt.model.units` and `nmt.model.attention` compute. Only what depends on the
previous state stays in the loop. A step begins with one product, of the state with the matrices of the unit and of the
attention joined. The backward pass carries the gradient of the state alone from step to step; after it, one product
over all steps gives the gradient of each matrix.

T is the number of steps, B that of sentences. Time is the third-last dimension of a tensor, so that D directions can
run side by side: (T, B, columns) or (D, T, B, columns).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from nmt.model.fast.precision import product_type, without_autocast

TIME = -3


class Unit(Protocol):
    """A recurrent unit as the loop sees it: all of a step but the joined product. It holds no tensors.

    Its first weight, (inputs - late, hidden), is joined with the attention's; `weights` are its other ones. `saved`
    are the rows of this step in the tensors of `allocate`.
    """

    hidden: int  # n, the leading columns of the state, which matrices are applied to and others can see
    state: int  # columns of the state: more than n if a unit packs several vectors into it
    inputs: int  # columns of what the inputs and the context add to the pre-activations
    late: int  # the leading columns of these, which the joined product does not add to

    def allocate(self, projected: Tensor, dtype: torch.dtype) -> list[Tensor]:
        """Room for what the backward pass needs of all steps, (..., T, B, columns); `dtype` is that of products."""

    def step(
        self,
        state: Tensor,
        inputs: Tensor,
        product: Tensor,
        weights: Sequence[Tensor],
        saved: Sequence[Tensor],
        present: Tensor | None,
        new: Tensor,
        low_precision: Tensor | None,
    ) -> None:
        """Fill `saved` and `new`, the next state (..., B, state), with its first n columns in `low_precision`, if any.

        state (..., B, state), inputs (..., B, inputs), product (..., B, inputs - late). present (..., B) is 1, or 0
        if the state must not change.
        """

    def grad_inputs(
        self, state: Tensor, grad_new: Tensor, weights: Sequence[Tensor], saved: Sequence[Tensor], out: Tensor
    ) -> Tensor | None:
        """Fill `out`, the gradient of the inputs (..., B, inputs), from that of the new state.

        Returns what `grad_state` needs of the products on the way.
        """

    def grad_state(
        self, arriving: Tensor, grad_new: Tensor, through: Tensor | None, grad_product: Tensor, saved: Sequence[Tensor]
    ) -> Tensor:
        """The gradient of the state (..., B, state), a new tensor.

        arriving (..., B, state) is what comes from outside the loop, grad_new the gradient of the new state, through
        the result of `grad_inputs`, grad_product (..., B, n) what comes through the joined product.
        """

    def grad_weights(self, grad_inputs: Tensor, saved: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The gradients of `weights` from those of all inputs, (..., inputs, T B), and `saved` (..., T, B, columns)."""


class Attention(Protocol):
    """An attention as the loop sees it: all of a step but the query. It holds no tensors.

    Its first tensor, (queries, n), makes the query of the state as part of the joined product; `tensors` are its other
    ones, as `prepare` returns them. `records` are the rows of this step in the tensors of `allocate`.
    """

    queries: int  # columns of the query

    def prepare(self, tensors: Sequence[Tensor], dtype: torch.dtype) -> list[Tensor]:
        """`tensors` in the types that they have in the loop; `dtype` is that of products."""

    def allocate(self, projected: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Room for the results of all steps, (T, B, ...); the loop returns the first, the others are for backward."""

    def attend(
        self, t: int, query: Tensor, inputs: Tensor, tensors: Sequence[Tensor], records: Sequence[Tensor]
    ) -> Tensor:
        """Fill `records` by the query (B, queries) of step t; return inputs (B, inputs) plus what the context adds."""

    def accumulators(self, state: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Tensors of zeros that `backward` adds gradients to, step by step; the type is that of `state`."""

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
        """Fill `out`, the gradient of the query (B, queries), and add to `accumulators`.

        grad_inputs (B, inputs) is the gradient of what `attend` returned, grad_record that of the first record.
        """

    def gradients(
        self,
        grad_inputs: Tensor,
        grad_queries: Tensor,
        tensors: Sequence[Tensor],
        records: Sequence[Tensor],
        accumulators: Sequence[Tensor],
    ) -> tuple[Tensor | None, ...]:
        """The gradients of `tensors`, from those of all inputs (T, B, inputs) and queries (T, B, queries)."""


@dataclass(frozen=True)
class Recurrence:
    """A unit with its weights, (columns, n) each, or (D, columns, n) for D directions."""

    unit: Unit
    weights: tuple[Tensor, ...]

    @staticmethod
    def side_by_side(recurrences: Sequence[Recurrence]) -> Recurrence:
        """D recurrences of the same unit as one."""
        weights = zip(*(one.weights for one in recurrences), strict=True)
        return Recurrence(recurrences[0].unit, tuple(torch.stack(parts) for parts in weights))


@dataclass(frozen=True)
class Attending:
    """An attention with its tensors; `known` (T, B, queries), if given, is what no state adds to the queries."""

    attention: Attention
    tensors: tuple[Tensor, ...]
    known: Tensor | None = None


def run(
    recurrence: Recurrence,
    projected: Tensor,
    initial: Tensor,
    present: Tensor | None = None,
    attending: Attending | None = None,
) -> tuple[Tensor, ...]:
    """Run a recurrence over all T steps; states have the type of `projected`.

    projected (..., T, B, inputs): what the inputs add to the pre-activations. initial (..., B, state). present
    (..., T, B): 1, or 0 where the state does not change. Returns the states, the initial one first,
    (..., T + 1, B, state), and with an attention its first record, (T, B, ...).
    """
    attention, tensors = (None, ()) if attending is None else (attending.attention, attending.tensors)
    known = None if attending is None else attending.known
    dtype, weights = product_type(projected), recurrence.weights
    with without_autocast(projected):
        return _Loop.apply(
            recurrence.unit, attention, dtype, len(weights), projected, initial, present, known, *weights, *tensors
        )


class _Loop(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        unit: Unit,
        attention: Attention | None,
        dtype: torch.dtype,
        count: int,
        projected: Tensor,
        initial: Tensor,
        present: Tensor | None,
        known: Tensor | None,
        *given: Tensor,
    ) -> tuple[Tensor, ...]:
        *directions, T, B, _ = projected.shape
        recurrent, *weights = given[:count]
        weights = [weight.to(dtype) for weight in weights]
        saved = unit.allocate(projected, dtype)
        queries, records, tensors = 0, [], []
        if attention is not None:
            query, *tensors = given[count:]
            queries, recurrent = attention.queries, torch.cat([query, recurrent])
            tensors = attention.prepare(tensors, dtype)
            records = attention.allocate(projected, tensors)
        joined = recurrent.to(dtype)
        states = projected.new_empty(*directions, T + 1, B, unit.state)
        states.select(TIME, 0).copy_(initial)
        exact = dtype == states.dtype
        hidden = states[..., : unit.hidden]
        low = hidden if exact else hidden.to(dtype)
        states_at, low_at, projected_at = (tensor.unbind(TIME) for tensor in (states, low, projected))
        present_at = [None] * T if present is None else present.unbind(TIME + 1)
        saved_at, records_at = _steps(T, saved), _steps(T, records)
        for t in range(T):
            product, inputs = low_at[t] @ joined.mT, projected_at[t]
            if attention is not None:
                asked = product[..., :queries] if known is None else product[..., :queries] + known[t]
                inputs = attention.attend(t, asked, inputs, tensors, records_at[t])
            copy = None if exact else low_at[t + 1]
            unit.step(
                states_at[t],
                inputs,
                product[..., queries:],
                weights,
                saved_at[t],
                present_at[t],
                states_at[t + 1],
                copy,
            )
        added = [] if known is None else [known]
        groups = ([states], [] if exact else [low], [joined], weights, saved, tensors, records, added)
        ctx.unit, ctx.attention, ctx.sizes = unit, attention, [len(group) for group in groups]
        ctx.save_for_backward(*chain(*groups))
        return states, *records[:1]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor, *grad_records: Tensor) -> tuple[Tensor | None, ...]:
        unit: Unit = ctx.unit
        attention: Attention | None = ctx.attention
        remaining = iter(ctx.saved_tensors)
        (states,), rounded, (joined,), weights, saved, tensors, records, known = (
            [next(remaining) for _ in range(size)] for size in ctx.sizes
        )
        low = rounded[0] if rounded else states[..., : unit.hidden]
        *directions, steps, B, _ = states.shape
        T, queries = steps - 1, 0
        visited = low.narrow(TIME, 0, T)
        to_state, accumulators = joined, []
        if attention is not None:
            queries = attention.queries
            asked = visited @ joined[:queries].mT
            if known:
                asked = asked + known[0]
            to_state = joined.roll(-queries, dims=0)  # the unit's rows first, so that `late` columns are in front
            accumulators = attention.accumulators(states, tensors)
        # The gradients of the inputs, then of the query: all but the late ones lead to the state by one product.
        grads = states.new_empty(*directions, T, B, unit.inputs + queries, dtype=joined.dtype)
        states_at, grads_at, arriving_at = (tensor.unbind(TIME) for tensor in (states, grads, grad_states))
        saved_at, records_at = _steps(T, saved), _steps(T, records)
        grad_state = arriving_at[T]
        for t in reversed(range(T)):
            grad = grads_at[t]
            grad_inputs, grad_query = grad[..., : unit.inputs], grad[..., unit.inputs :]
            through = unit.grad_inputs(states_at[t], grad_state, weights, saved_at[t], grad_inputs)
            if attention is not None:
                attention.backward(
                    t, grad_inputs, grad_records[0][t], asked[t], tensors, records_at[t], accumulators, grad_query
                )
            grad_product = grad[..., unit.late :] @ to_state
            grad_state = unit.grad_state(arriving_at[t], grad_state, through, grad_product, saved_at[t])
        flat = grads.flatten(TIME, -2).mT
        grad_joined = flat[..., unit.late :, :] @ visited.flatten(TIME, -2)
        grad_recurrent, grad_query = grad_joined.split([unit.inputs - unit.late, queries], dim=-2)
        grad_inputs, grad_queries = grads.split([unit.inputs, queries], dim=-1)
        found: list[Tensor | None] = [grad_recurrent, *unit.grad_weights(flat[..., : unit.inputs, :], saved)]
        if attention is not None:
            found += [
                grad_query,
                *attention.gradients(grad_inputs, grad_queries, tensors, records, accumulators),
            ]
        return None, None, None, None, grad_inputs, grad_state, None, grad_queries if known else None, *found


def _steps(T: int, tensors: Iterable[Tensor]) -> Sequence[tuple[Tensor, ...]]:
    """The rows of every tensor at each of T steps."""
    return list(zip(*(tensor.unbind(TIME) for tensor in tensors), strict=True)) or [()] * T
