"""The functions of `nmt.model.fast.steps` as Triton kernels for CUDA.

Sums are made in the type of the states; each result is stored in the type of the tensor that takes it, so that an
operand of a bfloat16 product needs no copy. Tensors are contiguous in their last dimension, and may be slices in the
others. No call waits for the host and every number is written by one program: a CUDA graph can hold the calls, and a
repetition gives the same bytes. The tiles are fixed, since trying out several would mean to wait and to time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

#: Units that one program of a pointwise kernel computes: one a thread.
UNITS = 128
#: Positions by columns that one program holds at once: where its results are one number a position, ...
POSITION_TILE = (4, 512)
#: ... where they are columns of a context, ...
CONTEXT_TILE = (16, 256)
#: ... and where they are columns of a query, fewer, so that 80 sentences still occupy a whole GPU.
QUERY_TILE = (8, 64)


def available() -> bool:
    """Whether Triton is installed."""
    return triton is not None


def _jit(kernel: Callable[..., Any]) -> Any:
    """`kernel`, for Triton to compile; without Triton a function that nobody calls."""
    return kernel if triton is None else triton.jit(kernel)


def _rows(tensor: Tensor) -> tuple[Tensor, int, int]:
    """`tensor` as the kernels take it."""
    return tensor, tensor.stride(0) if tensor.ndim == 3 else 0, tensor.stride(-2)


@_jit
def _row(rows: tl.tuple) -> tl.tensor:
    """Where this program's row of `rows` starts: programs are numbered by tile, sentence, direction."""
    tensor, by_direction, by_sentence = rows
    return tensor + tl.program_id(2).to(tl.int64) * by_direction + tl.program_id(1).to(tl.int64) * by_sentence


@_jit
def _tanh(x: tl.tensor) -> tl.tensor:
    return 2 * tl.sigmoid(2 * x) - 1


@_jit
def _score(
    query: tl.tuple,
    keys: tl.tensor,
    mask: tl.tuple,
    v_a: tl.tensor,
    energies: tl.tuple,
    positions: tl.int32,
    hidden: tl.constexpr,
    by_position: tl.constexpr,
    J: tl.constexpr,
    K: tl.constexpr,
) -> None:
    """e_ij = v_a' tanh(W_a s_{i-1} + U_a h_j) of J positions of a sentence, -inf on padding, which is not read."""
    kind: tl.constexpr = energies[0].dtype.element_ty
    j = tl.program_id(0) * J + tl.arange(0, J)
    real = tl.load(_row(mask) + j, mask=j < positions, other=0)
    key = keys + (tl.program_id(1).to(tl.int64) * positions + j)[:, None] * by_position
    products = tl.zeros([J, K], kind)
    for first in range(0, hidden, K):
        k = first + tl.arange(0, K)
        asked = tl.load(_row(query) + k, mask=k < hidden, other=0).to(kind)
        held = tl.load(key + k[None, :], mask=real[:, None] & (k < hidden)[None, :], other=0).to(kind)
        products += _tanh(held + asked[None, :]) * tl.load(v_a + k, mask=k < hidden, other=0)[None, :]
    tl.store(_row(energies) + j, tl.where(real, tl.sum(products, axis=1), -float("inf")), mask=j < positions)


@_jit
def _weigh(
    energies: tl.tuple,
    contexts: tl.tensor,
    added: tl.tuple,
    alignment: tl.tuple,
    context: tl.tuple,
    positions: tl.int32,
    width: tl.constexpr,
    by_position: tl.constexpr,
    T: tl.constexpr,
    J: tl.constexpr,
    K: tl.constexpr,
) -> None:
    """alpha_i = softmax(e_i), and K columns of c_i = sum_j alpha_ij h_j of a sentence. T >= Tx is a power of 2.

    Where alpha is 0, on padding above all, nothing is read, here and in the kernels backward.
    """
    kind: tl.constexpr = energies[0].dtype.element_ty
    t = tl.arange(0, T)
    energy = tl.load(_row(energies) + t, mask=t < positions, other=-float("inf"))
    largest = tl.max(energy, axis=0)
    weights = tl.exp(energy - largest)
    total = tl.sum(weights, axis=0)
    if tl.program_id(0) == 0:
        tl.store(_row(alignment) + t, weights / total, mask=t < positions)
    k = tl.program_id(0) * K + tl.arange(0, K)
    annotation = contexts + tl.program_id(1).to(tl.int64) * positions * by_position + k[None, :]
    products = tl.zeros([J, K], kind)
    for first in range(0, positions, J):
        j = first + tl.arange(0, J)
        alpha = tl.exp(tl.load(_row(energies) + j, mask=j < positions, other=-float("inf")) - largest) / total
        needed = (alpha != 0)[:, None] & (k < width)[None, :]
        products += alpha[:, None] * tl.load(annotation + j[:, None] * by_position, mask=needed, other=0).to(kind)
    summed = tl.sum(products, axis=0)
    if added is not None:
        summed += tl.load(_row(added) + k, mask=k < width, other=0)
    tl.store(_row(context) + k, summed, mask=k < width)


def look(
    query: Tensor,
    keys: Tensor,
    mask: Tensor,
    v_a: Tensor,
    contexts: Tensor,
    alignment: Tensor,
    added: Tensor | None = None,
) -> Tensor:
    """alpha_i into `alignment` (B, Tx); returns c_i, plus `added` where given, (B, p) in the alignment's type.

    query (B, n') is W_a s_{i-1}, keys (B, Tx, n') are the U_a h_j, mask (B, Tx) is False on padding, contexts
    (B, Tx, p) are what is weighed. Two kernels, one for the scores: 80 sentences alone do not occupy a GPU, and if the
    columns of c_i were shared out in a single kernel, each share would have to make all scores anew.
    """
    sentences, positions, width = contexts.shape
    keys, contexts = keys.flatten(0, 1), contexts.flatten(0, 1)
    energies = alignment.new_empty(sentences, positions)
    context = alignment.new_empty(sentences, width)
    _score[triton.cdiv(positions, POSITION_TILE[0]), sentences](
        _rows(query), keys, _rows(mask), v_a, _rows(energies), positions, len(v_a), keys.stride(0), *POSITION_TILE
    )
    _weigh[triton.cdiv(width, CONTEXT_TILE[1]), sentences](
        _rows(energies),
        contexts,
        None if added is None else _rows(added),
        _rows(alignment),
        _rows(context),
        positions,
        width,
        contexts.stride(0),
        triton.next_power_of_2(positions),
        *CONTEXT_TILE,
    )
    return context


@_jit
def _weigh_backward(
    for_context: tl.tuple,
    for_alignment: tl.tuple,
    alignment: tl.tuple,
    contexts: tl.tensor,
    weighed: tl.tuple,
    positions: tl.int32,
    width: tl.constexpr,
    by_position: tl.constexpr,
    J: tl.constexpr,
    K: tl.constexpr,
) -> None:
    """The gradient of alpha_ij, for J positions of a sentence: what arrives from outside, plus h_j . dL/dc_i."""
    kind: tl.constexpr = weighed[0].dtype.element_ty
    j = tl.program_id(0) * J + tl.arange(0, J)
    alpha = tl.load(_row(alignment) + j, mask=j < positions, other=0)
    annotation = contexts + (tl.program_id(1).to(tl.int64) * positions + j)[:, None] * by_position
    products = tl.zeros([J, K], kind)
    for first in range(0, width, K):
        k = first + tl.arange(0, K)
        needed = (alpha != 0)[:, None] & (k < width)[None, :]
        gradient = tl.load(_row(for_context) + k, mask=k < width, other=0).to(kind)
        products += gradient[None, :] * tl.load(annotation + k[None, :], mask=needed, other=0).to(kind)
    arriving = tl.load(_row(for_alignment) + j, mask=j < positions, other=0)
    tl.store(_row(weighed) + j, arriving + tl.sum(products, axis=1), mask=j < positions)


@_jit
def _score_backward(
    weighed: tl.tuple,
    alignment: tl.tuple,
    query: tl.tuple,
    keys: tl.tensor,
    v_a: tl.tensor,
    for_keys: tl.tensor,
    for_v: tl.tuple,
    for_query: tl.tuple,
    positions: tl.int32,
    hidden: tl.constexpr,
    by_position: tl.constexpr,
    T: tl.constexpr,
    J: tl.constexpr,
    K: tl.constexpr,
) -> None:
    """From the gradient w of alpha_i to that of e_ij, alpha_ij (w_j - sum_l alpha_il w_l), and through the tanh.

    K columns of query, keys and v_a of a sentence. T >= Tx is a power of 2.
    """
    kind: tl.constexpr = weighed[0].dtype.element_ty
    t = tl.arange(0, T)
    every = tl.load(_row(alignment) + t, mask=t < positions, other=0)
    mean = tl.sum(every * tl.load(_row(weighed) + t, mask=t < positions, other=0), axis=0)
    k = tl.program_id(0) * K + tl.arange(0, K)
    asked = tl.load(_row(query) + k, mask=k < hidden, other=0).to(kind)
    to_query = tl.zeros([J, K], kind)
    to_v = tl.zeros([J, K], kind)
    for first in range(0, positions, J):
        j = first + tl.arange(0, J)
        alpha = tl.load(_row(alignment) + j, mask=j < positions, other=0)
        energy = alpha * (tl.load(_row(weighed) + j, mask=j < positions, other=0) - mean)
        needed = (alpha != 0)[:, None] & (k < hidden)[None, :]
        row = tl.program_id(1).to(tl.int64) * positions + j
        held = tl.load(keys + row[:, None] * by_position + k[None, :], mask=needed, other=0).to(kind)
        seen = _tanh(held + asked[None, :])
        through = energy[:, None] * (1 - seen * seen)
        place = for_keys + row[:, None] * hidden + k[None, :]
        tl.store(place, tl.load(place, mask=needed) + through, mask=needed)
        to_query += through
        to_v += energy[:, None] * seen
    v = tl.load(v_a + k, mask=k < hidden, other=0)
    tl.store(_row(for_query) + k, tl.sum(to_query, axis=0) * v, mask=k < hidden)
    place = _row(for_v) + k
    tl.store(place, tl.load(place, mask=k < hidden) + tl.sum(to_v, axis=0), mask=k < hidden)


def look_backward(
    for_context: Tensor,
    for_alignment: Tensor,
    alignment: Tensor,
    query: Tensor,
    keys: Tensor,
    v_a: Tensor,
    contexts: Tensor,
    for_keys: Tensor,
    for_v: Tensor,
    for_query: Tensor,
) -> None:
    """Backward through `look`, less the contexts' own gradient, which is one product over all steps.

    From the gradients of c_i (B, p) and, from outside, of alpha_i (B, Tx): fills `for_query` (B, n'), adds to
    `for_keys` (B, Tx, n'), a contiguous tensor which still lacks the factor v_a, and to `for_v` (B, n'), which holds
    v_a's gradient sentence by sentence.
    """
    sentences, positions, width = contexts.shape
    keys, contexts = keys.flatten(0, 1), contexts.flatten(0, 1)
    weighed = alignment.new_empty(sentences, positions)
    _weigh_backward[triton.cdiv(positions, POSITION_TILE[0]), sentences](
        _rows(for_context),
        _rows(for_alignment),
        _rows(alignment),
        contexts,
        _rows(weighed),
        positions,
        width,
        contexts.stride(0),
        *POSITION_TILE,
    )
    _score_backward[triton.cdiv(len(v_a), QUERY_TILE[1]), sentences](
        _rows(weighed),
        _rows(alignment),
        _rows(query),
        keys,
        v_a,
        for_keys.view(-1, len(v_a)),
        _rows(for_v),
        _rows(for_query),
        positions,
        len(v_a),
        keys.stride(0),
        triton.next_power_of_2(positions),
        *QUERY_TILE,
    )


def _pointwise(kernel: Any, state: Tensor, *tensors: Tensor | None) -> None:
    """Run `kernel` once for each unit of `state` (B, n) or (D, B, n), with `tensors` of as many rows."""
    directions = len(state) if state.ndim == 3 else 1
    sentences, n = state.shape[-2:]
    rows = (None if tensor is None else _rows(tensor) for tensor in (state, *tensors))
    kernel[triton.cdiv(n, UNITS), sentences, directions](*rows, n, UNITS)


@_jit
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
    z = tl.sigmoid(tl.load(_row(inputs) + n + k, mask=unit) + tl.load(_row(product) + k, mask=unit))
    r = tl.sigmoid(tl.load(_row(inputs) + 2 * n + k, mask=unit) + tl.load(_row(product) + n + k, mask=unit))
    if present is not None:
        z *= tl.load(_row(present))
    tl.store(_row(gate) + k, z, mask=unit)
    tl.store(_row(gate) + n + k, r, mask=unit)
    tl.store(_row(reset) + k, r * tl.load(_row(state) + k, mask=unit), mask=unit)


def gates(
    state: Tensor, inputs: Tensor, product: Tensor, gate: Tensor, reset: Tensor, present: Tensor | None = None
) -> None:
    """z, r = sigma(... + [U_z; U_r] s) into `gate` (B, 2n), z times `present` (B,) where given; r o s into `reset`.

    inputs (B, 3n) are for candidate, update and reset, product (B, 2n) is [U_z; U_r] s, state (B, n). As in the other
    functions of the unit, any tensor may have a dimension D of directions before B; all have it then.
    """
    _pointwise(_gates, state, inputs, product, gate, reset, None if present is None else present.unsqueeze(-1))


@_jit
def _candidate(
    state: tl.tuple,
    inputs: tl.tuple,
    product: tl.tuple,
    gate: tl.tuple,
    candidate: tl.tuple,
    new: tl.tuple,
    narrow: tl.tuple,
    n: tl.int32,
    K: tl.constexpr,
) -> None:
    k = tl.program_id(0) * K + tl.arange(0, K)
    unit = k < n
    s = tl.load(_row(state) + k, mask=unit)
    made = _tanh(tl.load(_row(inputs) + k, mask=unit) + tl.load(_row(product) + k, mask=unit))
    s += tl.load(_row(gate) + k, mask=unit) * (made - s)
    tl.store(_row(candidate) + k, made, mask=unit)
    tl.store(_row(new) + k, s, mask=unit)
    if narrow is not None:
        tl.store(_row(narrow) + k, s, mask=unit)


def candidate(
    state: Tensor,
    inputs: Tensor,
    product: Tensor,
    gate: Tensor,
    candidate: Tensor,
    new: Tensor,
    narrow: Tensor | None = None,
) -> None:
    """s~ = tanh(... + U [r o s]) into `candidate` (B, n), s + z o (s~ - s) into `new` and, where given, `narrow`.

    inputs (B, 3n), product (B, n) is U [r o s], state (B, n), gate (B, 2n) is [z, r].
    """
    _pointwise(_candidate, state, inputs, product, gate, candidate, new, narrow)


@_jit
def _candidate_backward(
    state: tl.tuple,
    gradient: tl.tuple,
    candidate: tl.tuple,
    gate: tl.tuple,
    out: tl.tuple,
    n: tl.int32,
    K: tl.constexpr,
) -> None:
    k = tl.program_id(0) * K + tl.arange(0, K)
    unit = k < n
    g = tl.load(_row(gradient) + k, mask=unit)
    made = tl.load(_row(candidate) + k, mask=unit)
    z = tl.load(_row(gate) + k, mask=unit)
    tl.store(_row(out) + k, g * z * (1 - made * made), mask=unit)
    tl.store(_row(out) + n + k, g * (made - tl.load(_row(state) + k, mask=unit)) * (z * (1 - z)), mask=unit)


def candidate_backward(state: Tensor, gradient: Tensor, candidate: Tensor, gate: Tensor, out: Tensor) -> None:
    """From the new state's gradient (B, n) to those of what s~ and z are made of: the first 2n columns of `out`."""
    _pointwise(_candidate_backward, state, gradient, candidate, gate, out)


@_jit
def _reset_backward(
    state: tl.tuple, through_reset: tl.tuple, gate: tl.tuple, out: tl.tuple, n: tl.int32, K: tl.constexpr
) -> None:
    k = tl.program_id(0) * K + tl.arange(0, K)
    unit = k < n
    r = tl.load(_row(gate) + n + k, mask=unit)
    s = tl.load(_row(state) + k, mask=unit)
    tl.store(_row(out) + 2 * n + k, tl.load(_row(through_reset) + k, mask=unit) * s * (r * (1 - r)), mask=unit)


def reset_backward(state: Tensor, through_reset: Tensor, gate: Tensor, out: Tensor) -> None:
    """From the gradient of r o s (B, n) to that of what r is made of: the last n columns of `out` (B, 3n)."""
    _pointwise(_reset_backward, state, through_reset, gate, out)


@_jit
def _state_backward(
    arriving: tl.tuple,
    gradient: tl.tuple,
    through_reset: tl.tuple,
    through_gates: tl.tuple,
    gate: tl.tuple,
    total: tl.tuple,
    n: tl.int32,
    K: tl.constexpr,
) -> None:
    k = tl.program_id(0) * K + tl.arange(0, K)
    unit = k < n
    kept = tl.load(_row(gradient) + k, mask=unit) * (1 - tl.load(_row(gate) + k, mask=unit))
    reset = tl.load(_row(through_reset) + k, mask=unit) * tl.load(_row(gate) + n + k, mask=unit)
    products = tl.load(_row(through_gates) + k, mask=unit)
    tl.store(_row(total) + k, tl.load(_row(arriving) + k, mask=unit) + products + kept + reset, mask=unit)


def state_backward(
    arriving: Tensor, gradient: Tensor, through_reset: Tensor, through_gates: Tensor, gate: Tensor
) -> Tensor:
    """The gradient of s (B, n), a new tensor: all that reaches it, from outside and through the unit.

    arriving (B, n) is what comes from outside, gradient that of the new state, of which 1 - z is kept, through_reset
    that of r o s, through_gates what the products with z's and r's gradients (and the query's) give.
    """
    total = arriving.new_empty(arriving.shape)
    _pointwise(_state_backward, arriving, gradient, through_reset, through_gates, gate, total)
    return total
