"""The kernels of `nmt.model.fast.additive`."""

from __future__ import annotations

from torch import Tensor

from nmt.model.fast.kernels import jit, row_of, rows_of, tanh, tl, triton

#: Positions by columns that one program holds at once, if its result is a number for each position.
POSITION_TILE = (4, 512)
#: The same if its result is columns of a context.
CONTEXT_TILE = (16, 256)
#: The same if its result is columns of a query: fewer, so that 80 sentences still occupy a whole GPU.
QUERY_TILE = (8, 64)


@jit
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
    real = tl.load(row_of(mask) + j, mask=j < positions, other=0)
    key = keys + (tl.program_id(1).to(tl.int64) * positions + j)[:, None] * by_position
    products = tl.zeros([J, K], kind)
    for first in range(0, hidden, K):
        k = first + tl.arange(0, K)
        asked = tl.load(row_of(query) + k, mask=k < hidden, other=0).to(kind)
        held = tl.load(key + k[None, :], mask=real[:, None] & (k < hidden)[None, :], other=0).to(kind)
        products += tanh(held + asked[None, :]) * tl.load(v_a + k, mask=k < hidden, other=0)[None, :]
    tl.store(row_of(energies) + j, tl.where(real, tl.sum(products, axis=1), -float("inf")), mask=j < positions)


@jit
def _weigh(
    energies: tl.tuple,
    values: tl.tensor,
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
    """alpha_i = softmax(e_i), and K columns of sum_j alpha_ij values_j of a sentence. T >= Tx is a power of 2.

    Where alpha is 0, mostly on padding, nothing is read, neither here nor in the backward kernels.
    """
    kind: tl.constexpr = energies[0].dtype.element_ty
    t = tl.arange(0, T)
    energy = tl.load(row_of(energies) + t, mask=t < positions, other=-float("inf"))
    largest = tl.max(energy, axis=0)
    weights = tl.exp(energy - largest)
    total = tl.sum(weights, axis=0)
    if tl.program_id(0) == 0:
        tl.store(row_of(alignment) + t, weights / total, mask=t < positions)
    k = tl.program_id(0) * K + tl.arange(0, K)
    annotation = values + tl.program_id(1).to(tl.int64) * positions * by_position + k[None, :]
    products = tl.zeros([J, K], kind)
    for first in range(0, positions, J):
        j = first + tl.arange(0, J)
        alpha = tl.exp(tl.load(row_of(energies) + j, mask=j < positions, other=-float("inf")) - largest) / total
        needed = (alpha != 0)[:, None] & (k < width)[None, :]
        products += alpha[:, None] * tl.load(annotation + j[:, None] * by_position, mask=needed, other=0).to(kind)
    summed = tl.sum(products, axis=0)
    if added is not None:
        summed += tl.load(row_of(added) + k, mask=k < width, other=0)
    tl.store(row_of(context) + k, summed, mask=k < width)


def attend(
    query: Tensor,
    keys: Tensor,
    mask: Tensor,
    v_a: Tensor,
    values: Tensor,
    alignment: Tensor,
    added: Tensor | None = None,
) -> Tensor:
    """Two kernels, the first for the scores.

    With one program for each sentence, 80 sentences do not occupy a GPU; with several, each would compute all scores
    again.
    """
    sentences, positions, width = values.shape
    keys, values = keys.flatten(0, 1), values.flatten(0, 1)
    energies = alignment.new_empty(sentences, positions)
    context = alignment.new_empty(sentences, width)
    _score[triton.cdiv(positions, POSITION_TILE[0]), sentences](
        rows_of(query), keys, rows_of(mask), v_a, rows_of(energies), positions, len(v_a), keys.stride(0), *POSITION_TILE
    )
    _weigh[triton.cdiv(width, CONTEXT_TILE[1]), sentences](
        rows_of(energies),
        values,
        None if added is None else rows_of(added),
        rows_of(alignment),
        rows_of(context),
        positions,
        width,
        values.stride(0),
        triton.next_power_of_2(positions),
        *CONTEXT_TILE,
    )
    return context


@jit
def _weigh_backward(
    grad_context: tl.tuple,
    grad_alignment: tl.tuple,
    alignment: tl.tuple,
    values: tl.tensor,
    weighed: tl.tuple,
    positions: tl.int32,
    width: tl.constexpr,
    by_position: tl.constexpr,
    J: tl.constexpr,
    K: tl.constexpr,
) -> None:
    """The gradient of alpha_ij, for J positions of a sentence: what arrives from outside, plus values_j . dL/dc_i."""
    kind: tl.constexpr = weighed[0].dtype.element_ty
    j = tl.program_id(0) * J + tl.arange(0, J)
    alpha = tl.load(row_of(alignment) + j, mask=j < positions, other=0)
    annotation = values + (tl.program_id(1).to(tl.int64) * positions + j)[:, None] * by_position
    products = tl.zeros([J, K], kind)
    for first in range(0, width, K):
        k = first + tl.arange(0, K)
        needed = (alpha != 0)[:, None] & (k < width)[None, :]
        gradient = tl.load(row_of(grad_context) + k, mask=k < width, other=0).to(kind)
        products += gradient[None, :] * tl.load(annotation + k[None, :], mask=needed, other=0).to(kind)
    arriving = tl.load(row_of(grad_alignment) + j, mask=j < positions, other=0)
    tl.store(row_of(weighed) + j, arriving + tl.sum(products, axis=1), mask=j < positions)


@jit
def _score_backward(
    weighed: tl.tuple,
    alignment: tl.tuple,
    query: tl.tuple,
    keys: tl.tensor,
    v_a: tl.tensor,
    grad_keys: tl.tensor,
    grad_v: tl.tuple,
    grad_query: tl.tuple,
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
    every = tl.load(row_of(alignment) + t, mask=t < positions, other=0)
    mean = tl.sum(every * tl.load(row_of(weighed) + t, mask=t < positions, other=0), axis=0)
    k = tl.program_id(0) * K + tl.arange(0, K)
    asked = tl.load(row_of(query) + k, mask=k < hidden, other=0).to(kind)
    to_query = tl.zeros([J, K], kind)
    to_v = tl.zeros([J, K], kind)
    for first in range(0, positions, J):
        j = first + tl.arange(0, J)
        alpha = tl.load(row_of(alignment) + j, mask=j < positions, other=0)
        energy = alpha * (tl.load(row_of(weighed) + j, mask=j < positions, other=0) - mean)
        needed = (alpha != 0)[:, None] & (k < hidden)[None, :]
        row = tl.program_id(1).to(tl.int64) * positions + j
        held = tl.load(keys + row[:, None] * by_position + k[None, :], mask=needed, other=0).to(kind)
        seen = tanh(held + asked[None, :])
        through = energy[:, None] * (1 - seen * seen)
        place = grad_keys + row[:, None] * hidden + k[None, :]
        tl.store(place, tl.load(place, mask=needed) + through, mask=needed)
        to_query += through
        to_v += energy[:, None] * seen
    v = tl.load(v_a + k, mask=k < hidden, other=0)
    tl.store(row_of(grad_query) + k, tl.sum(to_query, axis=0) * v, mask=k < hidden)
    place = row_of(grad_v) + k
    tl.store(place, tl.load(place, mask=k < hidden) + tl.sum(to_v, axis=0), mask=k < hidden)


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
    sentences, positions, width = values.shape
    keys, values = keys.flatten(0, 1), values.flatten(0, 1)
    weighed = alignment.new_empty(sentences, positions)
    _weigh_backward[triton.cdiv(positions, POSITION_TILE[0]), sentences](
        rows_of(grad_context),
        rows_of(grad_alignment),
        rows_of(alignment),
        values,
        rows_of(weighed),
        positions,
        width,
        values.stride(0),
        *POSITION_TILE,
    )
    _score_backward[triton.cdiv(len(v_a), QUERY_TILE[1]), sentences](
        rows_of(weighed),
        rows_of(alignment),
        rows_of(query),
        keys,
        v_a,
        grad_keys.view(-1, len(v_a)),
        rows_of(grad_v),
        rows_of(grad_query),
        positions,
        len(v_a),
        keys.stride(0),
        triton.next_power_of_2(positions),
        *QUERY_TILE,
    )
