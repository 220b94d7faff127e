"""The kernels of `nmt.model.fast.gated`."""

from __future__ import annotations

from torch import Tensor

from nmt.model.fast.kernels import jit, pointwise, row_of, tanh, tl


@jit
def _gates(
    state: tl.tuple,
    inputs: tl.tuple,
    product: tl.tuple,
    gate: tl.tuple,
    reset: tl.tuple,
    present: tl.tuple,
    n: tl.int32,
    K: tl.constexpr,
) -> None:
    k = tl.program_id(0) * K + tl.arange(0, K)
    unit = k < n
    z = tl.sigmoid(tl.load(row_of(inputs) + n + k, mask=unit) + tl.load(row_of(product) + k, mask=unit))
    r = tl.sigmoid(tl.load(row_of(inputs) + 2 * n + k, mask=unit) + tl.load(row_of(product) + n + k, mask=unit))
    if present is not None:
        z *= tl.load(row_of(present))
    tl.store(row_of(gate) + k, z, mask=unit)
    tl.store(row_of(gate) + n + k, r, mask=unit)
    tl.store(row_of(reset) + k, r * tl.load(row_of(state) + k, mask=unit), mask=unit)


def gates(
    state: Tensor, inputs: Tensor, product: Tensor, gate: Tensor, reset: Tensor, present: Tensor | None = None
) -> None:
    pointwise(_gates, state, inputs, product, gate, reset, None if present is None else present.unsqueeze(-1))


@jit
def _propose(
    state: tl.tuple,
    inputs: tl.tuple,
    product: tl.tuple,
    gate: tl.tuple,
    candidate: tl.tuple,
    new: tl.tuple,
    low_precision: tl.tuple,
    n: tl.int32,
    K: tl.constexpr,
) -> None:
    k = tl.program_id(0) * K + tl.arange(0, K)
    unit = k < n
    s = tl.load(row_of(state) + k, mask=unit)
    made = tanh(tl.load(row_of(inputs) + k, mask=unit) + tl.load(row_of(product) + k, mask=unit))
    s += tl.load(row_of(gate) + k, mask=unit) * (made - s)
    tl.store(row_of(candidate) + k, made, mask=unit)
    tl.store(row_of(new) + k, s, mask=unit)
    if low_precision is not None:
        tl.store(row_of(low_precision) + k, s, mask=unit)


def propose(
    state: Tensor,
    inputs: Tensor,
    product: Tensor,
    gate: Tensor,
    candidate: Tensor,
    new: Tensor,
    low_precision: Tensor | None = None,
) -> None:
    pointwise(_propose, state, inputs, product, gate, candidate, new, low_precision)


@jit
def _propose_backward(
    state: tl.tuple,
    grad_new: tl.tuple,
    candidate: tl.tuple,
    gate: tl.tuple,
    out: tl.tuple,
    n: tl.int32,
    K: tl.constexpr,
) -> None:
    k = tl.program_id(0) * K + tl.arange(0, K)
    unit = k < n
    g = tl.load(row_of(grad_new) + k, mask=unit)
    made = tl.load(row_of(candidate) + k, mask=unit)
    z = tl.load(row_of(gate) + k, mask=unit)
    tl.store(row_of(out) + k, g * z * (1 - made * made), mask=unit)
    tl.store(row_of(out) + n + k, g * (made - tl.load(row_of(state) + k, mask=unit)) * (z * (1 - z)), mask=unit)


def propose_backward(state: Tensor, grad_new: Tensor, candidate: Tensor, gate: Tensor, out: Tensor) -> None:
    pointwise(_propose_backward, state, grad_new, candidate, gate, out)


@jit
def _reset_backward(
    state: tl.tuple, grad_reset: tl.tuple, gate: tl.tuple, out: tl.tuple, n: tl.int32, K: tl.constexpr
) -> None:
    k = tl.program_id(0) * K + tl.arange(0, K)
    unit = k < n
    r = tl.load(row_of(gate) + n + k, mask=unit)
    s = tl.load(row_of(state) + k, mask=unit)
    tl.store(row_of(out) + 2 * n + k, tl.load(row_of(grad_reset) + k, mask=unit) * s * (r * (1 - r)), mask=unit)


def reset_backward(state: Tensor, grad_reset: Tensor, gate: Tensor, out: Tensor) -> None:
    pointwise(_reset_backward, state, grad_reset, gate, out)


@jit
def _state_backward(
    outside: tl.tuple,
    grad_new: tl.tuple,
    grad_reset: tl.tuple,
    grad_product: tl.tuple,
    gate: tl.tuple,
    total: tl.tuple,
    n: tl.int32,
    K: tl.constexpr,
) -> None:
    k = tl.program_id(0) * K + tl.arange(0, K)
    unit = k < n
    kept = tl.load(row_of(grad_new) + k, mask=unit) * (1 - tl.load(row_of(gate) + k, mask=unit))
    reset = tl.load(row_of(grad_reset) + k, mask=unit) * tl.load(row_of(gate) + n + k, mask=unit)
    products = tl.load(row_of(grad_product) + k, mask=unit)
    tl.store(row_of(total) + k, tl.load(row_of(outside) + k, mask=unit) + products + kept + reset, mask=unit)


def state_backward(outside: Tensor, grad_new: Tensor, grad_reset: Tensor, grad_product: Tensor, gate: Tensor) -> Tensor:
    total = outside.new_empty(outside.shape)
    pointwise(_state_backward, outside, grad_new, grad_reset, grad_product, gate, total)
    return total
