"""The kernels of `nmt.model.fast.lstm`."""

from __future__ import annotations

from torch import Tensor

from nmt.model.fast.kernels import jit, pointwise, row_of, tanh, tl


@jit
def _cell(
    squashed: tl.tuple,
    state: tl.tuple,
    inputs: tl.tuple,
    product: tl.tuple,
    kept: tl.tuple,
    gates: tl.tuple,
    new: tl.tuple,
    low_precision: tl.tuple,
    n: tl.int32,
    K: tl.constexpr,
) -> None:
    k = tl.program_id(0) * K + tl.arange(0, K)
    unit = k < n
    added, product_row, gates_row = row_of(inputs) + k, row_of(product) + k, row_of(gates) + k
    g = tanh(tl.load(added, mask=unit) + tl.load(product_row, mask=unit))
    i = tl.sigmoid(tl.load(added + n, mask=unit) + tl.load(product_row + n, mask=unit))
    f = tl.sigmoid(tl.load(added + 2 * n, mask=unit) + tl.load(product_row + 2 * n, mask=unit))
    o = tl.sigmoid(tl.load(added + 3 * n, mask=unit) + tl.load(product_row + 3 * n, mask=unit))
    if kept is not None:
        changes = 1 - tl.load(row_of(kept))
        g, i, o = g * changes, i * changes, o * changes
        f = f * changes + (1 - changes)
    c = f * tl.load(row_of(state) + n + k, mask=unit) + i * g
    t = tanh(c)
    h = o * t
    if kept is not None:
        h += (1 - changes) * tl.load(row_of(state) + k, mask=unit)
    tl.store(gates_row, g, mask=unit)
    tl.store(gates_row + n, i, mask=unit)
    tl.store(gates_row + 2 * n, f, mask=unit)
    tl.store(gates_row + 3 * n, o, mask=unit)
    tl.store(row_of(squashed) + k, t, mask=unit)
    tl.store(row_of(new) + k, h, mask=unit)
    tl.store(row_of(new) + n + k, c, mask=unit)
    if low_precision is not None:
        tl.store(row_of(low_precision) + k, h, mask=unit)


def cell(
    state: Tensor,
    inputs: Tensor,
    product: Tensor,
    kept: Tensor | None,
    gates: Tensor,
    squashed: Tensor,
    new: Tensor,
    low_precision: Tensor | None = None,
) -> None:
    pointwise(_cell, squashed, state, inputs, product, kept, gates, new, low_precision)


@jit
def _cell_backward(
    squashed: tl.tuple,
    state: tl.tuple,
    grad_new: tl.tuple,
    gates: tl.tuple,
    kept: tl.tuple,
    out: tl.tuple,
    grad_state: tl.tuple,
    n: tl.int32,
    K: tl.constexpr,
) -> None:
    k = tl.program_id(0) * K + tl.arange(0, K)
    unit = k < n
    gates_row, out_row, grad_row = row_of(gates) + k, row_of(out) + k, row_of(grad_state) + k
    g, i = tl.load(gates_row, mask=unit), tl.load(gates_row + n, mask=unit)
    f, o = tl.load(gates_row + 2 * n, mask=unit), tl.load(gates_row + 3 * n, mask=unit)
    grad_h = tl.load(row_of(grad_new) + k, mask=unit)
    t = tl.load(row_of(squashed) + k, mask=unit)
    grad_c = tl.load(row_of(grad_new) + n + k, mask=unit) + grad_h * o * (1 - t * t)
    before = tl.load(row_of(state) + n + k, mask=unit)
    tl.store(out_row, grad_c * i * (1 - g * g), mask=unit)
    tl.store(out_row + n, grad_c * g * (i * (1 - i)), mask=unit)
    tl.store(out_row + 2 * n, grad_c * before * (f * (1 - f)), mask=unit)
    tl.store(out_row + 3 * n, grad_h * t * (o * (1 - o)), mask=unit)
    tl.store(grad_row, tl.load(row_of(kept)) * grad_h, mask=unit)
    tl.store(grad_row + n, grad_c * f, mask=unit)


def cell_backward(
    state: Tensor, grad_new: Tensor, gates: Tensor, squashed: Tensor, kept: Tensor, out: Tensor
) -> Tensor:
    grad_state = grad_new.new_empty(grad_new.shape)
    pointwise(_cell_backward, squashed, state, grad_new, gates, kept, out, grad_state)
    return grad_state


@jit
def _packed_backward(
    grad_product: tl.tuple, outside: tl.tuple, inner: tl.tuple, total: tl.tuple, n: tl.int32, K: tl.constexpr
) -> None:
    k = tl.program_id(0) * K + tl.arange(0, K)
    unit = k < n
    outside_row, inner_row, total_row = row_of(outside) + k, row_of(inner) + k, row_of(total) + k
    products = tl.load(row_of(grad_product) + k, mask=unit)
    tl.store(total_row, tl.load(outside_row, mask=unit) + tl.load(inner_row, mask=unit) + products, mask=unit)
    tl.store(total_row + n, tl.load(outside_row + n, mask=unit) + tl.load(inner_row + n, mask=unit), mask=unit)


def state_backward(outside: Tensor, inner: Tensor, grad_product: Tensor) -> Tensor:
    total = outside.new_empty(outside.shape)
    pointwise(_packed_backward, grad_product, outside, inner, total)
    return total
