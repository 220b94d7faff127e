"""The kernels of `nmt.model.fast.fine_grained`.

Tensors (B, Tx, ...) are contiguous. The products with V stay PyTorch's.
"""

from __future__ import annotations

from torch import Tensor

from nmt.model.fast.kernels import jit, row_of, rows_of, tanh, tl, triton

#: Positions by columns that one program holds at once.
TILE = (8, 128)


@jit
def _tanh_of_sum(
    query: tl.tuple,
    keys: tl.tensor,
    hidden: tl.tensor,
    positions: tl.int32,
    width: tl.constexpr,
    J: tl.constexpr,
    K: tl.constexpr,
) -> None:
    """tanh of the sum of query and keys: K columns of J positions of a sentence."""
    kind: tl.constexpr = keys.dtype.element_ty
    j = tl.program_id(2) * J + tl.arange(0, J)
    k = tl.program_id(0) * K + tl.arange(0, K)
    inside = (j < positions)[:, None] & (k < width)[None, :]
    place = (tl.program_id(1).to(tl.int64) * positions + j)[:, None] * width + k[None, :]
    asked = tl.load(row_of(query) + k, mask=k < width, other=0).to(kind)
    tl.store(hidden + place, tanh(tl.load(keys + place, mask=inside, other=0) + asked[None, :]), mask=inside)


@jit
def _weigh_dimensions(
    context: tl.tuple,
    scores: tl.tensor,
    mask: tl.tuple,
    annotations: tl.tensor,
    weights: tl.tensor,
    positions: tl.int32,
    width: tl.constexpr,
    J: tl.constexpr,
    K: tl.constexpr,
) -> None:
    """alpha_i, the softmax of the scores over the positions, and c_i: K dimensions of a sentence."""
    kind: tl.constexpr = annotations.dtype.element_ty
    k = tl.program_id(0) * K + tl.arange(0, K)
    start = tl.program_id(1).to(tl.int64) * positions
    largest = tl.full([K], -1e30, kind)  # finite, so that exp never meets the difference of two infinities
    total = tl.zeros([K], kind)
    for first in range(0, positions, J):
        j = first + tl.arange(0, J)
        real = tl.load(row_of(mask) + j, mask=j < positions, other=0) != 0
        place = (start + j)[:, None] * width + k[None, :]
        score = tl.load(scores + place, mask=real[:, None] & (k < width)[None, :], other=-float("inf")).to(kind)
        larger = tl.maximum(largest, tl.max(score, axis=0))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(score - larger[None, :]), axis=0)
        largest = larger
    summed = tl.zeros([J, K], kind)
    for first in range(0, positions, J):
        j = first + tl.arange(0, J)
        real = tl.load(row_of(mask) + j, mask=j < positions, other=0) != 0
        place = (start + j)[:, None] * width + k[None, :]
        needed = real[:, None] & (k < width)[None, :]
        score = tl.load(scores + place, mask=needed, other=-float("inf")).to(kind)
        alpha = tl.exp(score - largest[None, :]) / total[None, :]
        tl.store(weights + place, alpha, mask=(j < positions)[:, None] & (k < width)[None, :])
        summed += alpha * tl.load(annotations + place, mask=needed, other=0)
    tl.store(row_of(context) + k, tl.sum(summed, axis=0), mask=k < width)


def attend(
    query: Tensor, keys: Tensor, mask: Tensor, V: Tensor, annotations: Tensor, weights: Tensor, context: Tensor
) -> None:
    sentences, positions, width = annotations.shape
    scores = _hidden(query, keys, V) @ V.T
    _weigh_dimensions[triton.cdiv(width, TILE[1]), sentences](
        rows_of(context), scores, rows_of(mask), annotations, weights, positions, width, *TILE
    )


@jit
def _weigh_dimensions_backward(
    grad_context: tl.tuple,
    context: tl.tuple,
    weights: tl.tensor,
    annotations: tl.tensor,
    grad_annotations: tl.tensor,
    grad_scores: tl.tensor,
    positions: tl.int32,
    width: tl.constexpr,
    J: tl.constexpr,
    K: tl.constexpr,
) -> None:
    """The gradients of scores and annotations: K dimensions of J positions of a sentence.

    The backward pass of a softmax subtracts the weighted mean of its gradients dL/dc_i o h_j, here dL/dc_i o c_i.
    """
    kind: tl.constexpr = annotations.dtype.element_ty
    j = tl.program_id(2) * J + tl.arange(0, J)
    k = tl.program_id(0) * K + tl.arange(0, K)
    inside = (j < positions)[:, None] & (k < width)[None, :]
    place = (tl.program_id(1).to(tl.int64) * positions + j)[:, None] * width + k[None, :]
    arriving = tl.load(row_of(grad_context) + k, mask=k < width, other=0).to(kind)
    mean = tl.load(row_of(context) + k, mask=k < width, other=0).to(kind)
    through = tl.load(weights + place, mask=inside, other=0).to(kind) * arriving[None, :]
    annotation = tl.load(annotations + place, mask=inside, other=0)
    tl.store(grad_scores + place, through * (annotation - mean[None, :]), mask=inside)
    found = grad_annotations + place
    tl.store(found, tl.load(found, mask=inside) + through, mask=inside)


@jit
def _tanh_of_sum_backward(
    grad_query: tl.tuple,
    grad_hidden: tl.tensor,
    hidden: tl.tensor,
    grad_keys: tl.tensor,
    positions: tl.int32,
    width: tl.constexpr,
    J: tl.constexpr,
    K: tl.constexpr,
) -> None:
    """Through the tanh: K columns of the query and the keys of a sentence."""
    kind: tl.constexpr = grad_keys.dtype.element_ty
    k = tl.program_id(0) * K + tl.arange(0, K)
    start = tl.program_id(1).to(tl.int64) * positions
    to_query = tl.zeros([J, K], kind)
    for first in range(0, positions, J):
        j = first + tl.arange(0, J)
        inside = (j < positions)[:, None] & (k < width)[None, :]
        place = (start + j)[:, None] * width + k[None, :]
        seen = tl.load(hidden + place, mask=inside, other=0).to(kind)
        through = tl.load(grad_hidden + place, mask=inside, other=0).to(kind) * (1 - seen * seen)
        tl.store(grad_keys + place, tl.load(grad_keys + place, mask=inside) + through, mask=inside)
        to_query += through
    tl.store(row_of(grad_query) + k, tl.sum(to_query, axis=0), mask=k < width)


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
    sentences, positions, width = annotations.shape
    grad_scores = weights.new_empty(weights.shape)
    _weigh_dimensions_backward[triton.cdiv(width, TILE[1]), sentences, triton.cdiv(positions, TILE[0])](
        rows_of(grad_context),
        rows_of(context),
        weights,
        annotations,
        grad_annotations,
        grad_scores,
        positions,
        width,
        *TILE,
    )
    hidden = _hidden(query, keys, V)
    grad_V += grad_scores.flatten(0, 1).T @ hidden.flatten(0, 1)
    _tanh_of_sum_backward[triton.cdiv(keys.shape[-1], TILE[1]), sentences](
        rows_of(grad_query), grad_scores @ V, hidden, grad_keys, positions, keys.shape[-1], *TILE
    )


def _hidden(query: Tensor, keys: Tensor, V: Tensor) -> Tensor:
    """tanh of the sum of a query (B, n') and keys (B, Tx, n'), (B, Tx, n') in the type of V."""
    sentences, positions, width = keys.shape
    hidden = keys.new_empty(keys.shape, dtype=V.dtype)
    _tanh_of_sum[triton.cdiv(width, TILE[1]), sentences, triton.cdiv(positions, TILE[0])](
        rows_of(query), keys, hidden, positions, width, *TILE
    )
    return hidden
