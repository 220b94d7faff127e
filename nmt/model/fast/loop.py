"""One loop for every recurrence: any unit, over a sentence in one or both directions, with any attention or none.

It computes what the readable steps of `nmt.model.units` and `nmt.model.attention` compute; docs/model.md draws a step.
Only what depends on the previous state stays in the loop. A step begins with one product of the state with the joined
matrices of unit and attention. The backward pass takes only the gradient of the state from step to step; after it, one
product over all steps gives the gradient of each matrix.

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

from nmt.model.products import product_type, without_autocast

TIME = -3


class FastUnit(Protocol):
    """A recurrent unit as the loop sees it: all of a step except the joined product. It holds no tensors.

    Its first weight, (inputs - unjoined, hidden), is joined with the attention's; `weights` are the others. `saved` are
    the rows of this step in the tensors of `allocate`.
    """

    hidden: int  # n, the leading columns of the state: what the joined matrices multiply and what others see
    state: int  # columns of the state: more than n if a unit packs several vectors into it
    inputs: int  # columns of what the inputs and the context add to the pre-activations
    unjoined: int  # the leading columns of these, which the joined product does not add to

    def allocate(self, projected: Tensor, dtype: torch.dtype) -> list[Tensor]:
        """Memory for what the backward pass needs, of all steps (..., T, B, columns); `dtype` is that of products."""

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
        """Fill `saved`, `new` with the next state (..., B, state), and any `low_precision` with its first n columns.

        inputs (..., B, inputs), state (..., B, state), product (..., B, inputs - unjoined). present (..., B) is 1, or 0
        if the state must not change.
        """

    def grad_inputs(
        self, state: Tensor, grad_new: Tensor, weights: Sequence[Tensor], saved: Sequence[Tensor], out: Tensor
    ) -> Tensor:
        """Fill `out`, the gradient of the inputs (..., B, inputs), from that of the new state.

        Returns a gradient that it computes on the way and that `grad_state` needs.
        """

    def grad_state(
        self, outside: Tensor, grad_new: Tensor, inner: Tensor, grad_product: Tensor, saved: Sequence[Tensor]
    ) -> Tensor:
        """The gradient of the state (..., B, state), a new tensor: the sum over all uses of the state.

        outside (..., B, state) comes from outside the loop. grad_new is the gradient of the new state, inner the result
        of `grad_inputs`, and grad_product (..., B, n) comes through the joined product.
        """

    def grad_weights(self, grad_inputs: Tensor, saved: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The gradients of `weights` from those of all inputs, (..., inputs, T B), and `saved` (..., T, B, columns)."""


class FastAttention(Protocol):
    """An attention as the loop sees it: all of a step except the product for its query. It holds no tensors.

    Its first tensor, (queries, n), is joined with the unit's and maps a state to its query; `tensors` are the others,
    as `prepare` returns them. `saved` are the rows of this step in the tensors of `allocate`.
    """

    queries: int  # columns of the query

    def prepare(self, tensors: Sequence[Tensor], dtype: torch.dtype) -> list[Tensor]:
        """`tensors` in their types within the loop; `dtype` is that of products."""

    def allocate(self, projected: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Memory for the results of all steps, (T, B, ...); the loop returns the first, the others are for backward."""

    def attend(self, query: Tensor, inputs: Tensor, tensors: Sequence[Tensor], saved: Sequence[Tensor]) -> Tensor:
        """Fill `saved` from the query (B, queries); return inputs (B, inputs) plus what the context adds."""

    def accumulators(self, state: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Tensors of zeros that `backward` adds gradients to, step by step; their type is that of `state`."""

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
        """Fill `out`, the gradient of the query (B, queries), and add to `accumulators`.

        grad_inputs (B, inputs) is the gradient of what `attend` returned, grad_saved that of the first of `saved`.
        """

    def gradients(
        self, grad_inputs: Tensor, tensors: Sequence[Tensor], saved: Sequence[Tensor], accumulators: Sequence[Tensor]
    ) -> tuple[Tensor | None, ...]:
        """The gradients of `tensors`, from those of all inputs (T, B, inputs)."""


@dataclass(frozen=True)
class Recurrence:
    """A unit with its weights, (columns, n) each, or (D, columns, n) for D directions."""

    unit: FastUnit
    weights: tuple[Tensor, ...]

    @staticmethod
    def side_by_side(recurrences: Sequence[Recurrence]) -> Recurrence:
        """D recurrences of the same unit as one."""
        weights = zip(*(one.weights for one in recurrences), strict=True)
        return Recurrence(recurrences[0].unit, tuple(torch.stack(parts) for parts in weights))


@dataclass(frozen=True)
class Attending:
    """An attention with its tensors; `word_queries` (T, B, queries), if any, are added to the queries of the states."""

    attention: FastAttention
    tensors: tuple[Tensor, ...]
    word_queries: Tensor | None = None


def run(
    recurrence: Recurrence,
    projected: Tensor,
    initial: Tensor,
    present: Tensor | None = None,
    attending: Attending | None = None,
) -> tuple[Tensor, ...]:
    """Run a recurrence over all T steps; states have the type of `projected`.

    projected (..., T, B, inputs): what the inputs add to the pre-activations. initial (..., B, state). present
    (..., T, B): 1, or 0 where the state does not change. Returns the states (..., T + 1, B, state), the initial one
    first, and with an attention the first tensor that it saved, (T, B, ...).
    """
    attention, tensors = (None, ()) if attending is None else (attending.attention, attending.tensors)
    word_queries = None if attending is None else attending.word_queries
    dtype, weights = product_type(projected), recurrence.weights
    with without_autocast(projected):
        given = (projected, initial, present, word_queries, *weights, *tensors)
        return _Loop.apply(recurrence.unit, attention, dtype, len(weights), *given)


class _Loop(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        unit: FastUnit,
        attention: FastAttention | None,
        dtype: torch.dtype,
        count: int,
        projected: Tensor,
        initial: Tensor,
        present: Tensor | None,
        word_queries: Tensor | None,
        *given: Tensor,
    ) -> tuple[Tensor, ...]:
        *directions, T, B, _ = projected.shape
        recurrent, *weights = given[:count]
        weights = [weight.to(dtype) for weight in weights]
        saved = unit.allocate(projected, dtype)
        queries, attended, tensors = 0, [], []
        if attention is not None:
            W_a, *tensors = given[count:]
            queries, recurrent = attention.queries, torch.cat([W_a, recurrent])
            tensors = attention.prepare(tensors, dtype)
            attended = attention.allocate(projected, tensors)
        joined = recurrent.to(dtype)
        states = projected.new_empty(*directions, T + 1, B, unit.state)
        states.select(TIME, 0).copy_(initial)
        exact = dtype == states.dtype
        hidden = states[..., : unit.hidden]
        low = hidden if exact else hidden.to(dtype)
        states_at, low_at, projected_at = (tensor.unbind(TIME) for tensor in (states, low, projected))
        present_at = [None] * T if present is None else present.unbind(TIME + 1)
        saved_at, attended_at = _steps(T, saved), _steps(T, attended)
        for t in range(T):
            product, inputs = low_at[t] @ joined.mT, projected_at[t]
            if attention is not None:
                query = product[..., :queries]
                if word_queries is not None:
                    query = query + word_queries[t]
                inputs = attention.attend(query, inputs, tensors, attended_at[t])
            product, copy = product[..., queries:], None if exact else low_at[t + 1]
            unit.step(inputs, states_at[t], product, weights, saved_at[t], present_at[t], states_at[t + 1], copy)
        added = [] if word_queries is None else [word_queries]
        groups = ([states], [] if exact else [low], [joined], weights, saved, tensors, attended, added)
        ctx.unit, ctx.attention, ctx.sizes = unit, attention, [len(group) for group in groups]
        ctx.save_for_backward(*chain(*groups))
        return states, *attended[:1]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor, *grad_attended: Tensor) -> tuple[Tensor | None, ...]:
        unit: FastUnit = ctx.unit
        attention: FastAttention | None = ctx.attention
        remaining = iter(ctx.saved_tensors)
        (states,), rounded, (joined,), weights, saved, tensors, attended, word_queries = (
            [next(remaining) for _ in range(size)] for size in ctx.sizes
        )
        low = rounded[0] if rounded else states[..., : unit.hidden]
        *directions, steps, B, _ = states.shape
        T, queries = steps - 1, 0
        visited = low.narrow(TIME, 0, T)
        to_state, accumulators = joined, []
        if attention is not None:
            queries = attention.queries
            query = visited @ joined[:queries].mT
            if word_queries:
                query = query + word_queries[0]
            to_state = joined.roll(-queries, dims=0)  # the unit's rows first, so that the unjoined columns are in front
            accumulators = attention.accumulators(states, tensors)
        # The gradients of the inputs, then of the query: all but the unjoined ones lead to the state by one product.
        grads = states.new_empty(*directions, T, B, unit.inputs + queries, dtype=joined.dtype)
        states_at, grads_at, outside_at = (tensor.unbind(TIME) for tensor in (states, grads, grad_states))
        saved_at, attended_at = _steps(T, saved), _steps(T, attended)
        grad_state = outside_at[T]
        for t in reversed(range(T)):
            grad = grads_at[t]
            grad_inputs, grad_query = grad[..., : unit.inputs], grad[..., unit.inputs :]
            inner = unit.grad_inputs(states_at[t], grad_state, weights, saved_at[t], grad_inputs)
            if attention is not None:
                grad_saved = grad_attended[0][t]
                attention.backward(grad_inputs, grad_saved, query[t], tensors, attended_at[t], accumulators, grad_query)
            grad_product = grad[..., unit.unjoined :] @ to_state
            grad_state = unit.grad_state(outside_at[t], grad_state, inner, grad_product, saved_at[t])
        flat = grads.flatten(TIME, -2).mT
        grad_joined = flat[..., unit.unjoined :, :] @ visited.flatten(TIME, -2)
        grad_recurrent, grad_query = grad_joined.split([unit.inputs - unit.unjoined, queries], dim=-2)
        grad_inputs, grad_queries = grads.split([unit.inputs, queries], dim=-1)
        found: list[Tensor | None] = [grad_recurrent, *unit.grad_weights(flat[..., : unit.inputs, :], saved)]
        if attention is not None:
            found += [grad_query, *attention.gradients(grad_inputs, tensors, attended, accumulators)]
        return None, None, None, None, grad_inputs, grad_state, None, grad_queries if word_queries else None, *found


def _steps(T: int, tensors: Iterable[Tensor]) -> Sequence[tuple[Tensor, ...]]:
    """The rows of every tensor at each of T steps."""
    return list(zip(*(tensor.unbind(TIME) for tensor in tensors), strict=True)) or [()] * T
