"""The Triton kernels of the model against plain PyTorch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from nmt.model.fast import choice
from nmt.model.fast import fine_grained as plain_fine_grained
from nmt.model.fast import lstm as plain_lstm
from nmt.model.fast import words as plain_words
from nmt.model.fast.kernels import additive, fine_grained, gated, lstm, softmax, words
from tests.kernels import DEVICE, run, stacks
from tests.model.models import ragged_batch, tiny_model

RANDOM = torch.Generator().manual_seed(1)

#: Of the states and of the matrix products, and what results may differ by.
types = pytest.mark.parametrize(
    ("dtype", "low_precision", "tolerance"),
    [
        (torch.float64, torch.float64, 1e-12),
        (torch.float32, torch.float32, 1e-4),
        (torch.float32, torch.bfloat16, 1e-4),
    ],
)
#: Lengths of the source sentences, n, n': less than a tile, one of each, and more than a tile in every direction.
sizes = pytest.mark.parametrize(
    ("lengths", "n", "alignment"), [([7, 1, 4], 5, 6), ([1], 6, 7), ([1, 1], 1, 1), ([21, 9], 200, 530)]
)


@pytest.mark.long
def test_kernels_in_the_interpreter() -> None:
    run(__file__, "check_*", TRITON_INTERPRET="1")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_kernels_on_the_gpu() -> None:
    run(__file__, "check_*")


@pytest.mark.long
def test_kernels_compile(tmp_path: Path) -> None:
    run(__file__, "compile_*", TRITON_CACHE_DIR=str(tmp_path))


def test_without_a_gpu_triton_is_not_imported() -> None:
    command = "import sys, nmt.training.train, nmt.search.translator; print('triton' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", command], capture_output=True, check=True)
    assert result.stdout == b"False\n"


def random(*shape: int, dtype: torch.dtype) -> Tensor:
    return torch.randn(*shape, generator=RANDOM).to(DEVICE, dtype)


def leaf(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """A copy of `tensor` that gradients are wanted of."""
    return tensor.detach().to(dtype, copy=True).requires_grad_()


def assert_close(ours: Tensor, exact: Tensor, tolerance: float) -> None:
    """Within `tolerance`; in bfloat16 within one in the last place, since the interpreter cuts and does not round."""
    tolerance = 2**-7 if ours.dtype == torch.bfloat16 else tolerance
    torch.testing.assert_close(ours.to(exact.dtype), exact, rtol=tolerance, atol=tolerance)


def plain_attend(query: Tensor, keys: Tensor, mask: Tensor, v_a: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    energy = (torch.tanh(keys + query.unsqueeze(1)) * v_a).sum(dim=-1)
    alignment = energy.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    return alignment, torch.bmm(alignment.unsqueeze(1), values).squeeze(1)


def sentences(
    lengths: list[int], n: int, alignment: int, dtype: torch.dtype, low_precision: torch.dtype
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Query, keys, mask, v_a and values, the query and the values as columns of wider tensors."""
    B, positions = len(lengths), max(lengths)
    mask = torch.arange(positions, device=DEVICE) < torch.tensor(lengths, device=DEVICE).unsqueeze(1)
    query = random(B, alignment + 2 * n, dtype=low_precision)[:, :alignment]
    values = random(B, positions, 3 * n + 2, dtype=low_precision)[..., : 3 * n]
    keys = random(B, positions, alignment, dtype=low_precision)
    return query, keys, mask, random(alignment, dtype=dtype), values


@types
@sizes
def check_attend(
    lengths: list[int], n: int, alignment: int, dtype: torch.dtype, low_precision: torch.dtype, tolerance: float
) -> None:
    query, keys, mask, v_a, values = sentences(lengths, n, alignment, dtype, low_precision)
    expected, context = plain_attend(query.to(dtype), keys.to(dtype), mask, v_a, values.to(dtype))
    keys[~mask] = values[~mask] = torch.nan  # padding is not read
    alignments = random(3, *mask.shape, dtype=dtype)
    others = alignments[::2].clone()
    for added in (None, random(2, len(lengths), 3 * n, dtype=dtype)[1]):
        attended = additive.attend(query, keys, mask, v_a, values, alignments[1], added)
        assert attended.dtype == dtype
        assert_close(alignments[1], expected, tolerance)
        assert_close(attended, context if added is None else context + added, tolerance)
    assert not alignments[1][~mask].any()
    assert torch.equal(alignments[::2], others)


@types
@sizes
def check_attend_backward(
    lengths: list[int], n: int, alignment: int, dtype: torch.dtype, low_precision: torch.dtype, tolerance: float
) -> None:
    query, keys, mask, v_a, values = sentences(lengths, n, alignment, dtype, low_precision)
    grad_context = random(len(lengths), 3 * n + alignment, dtype=low_precision)[:, : 3 * n]
    grad_alignment = random(len(lengths), 2, mask.shape[1], dtype=dtype)[:, 1]
    grad_keys, grad_v = random(*keys.shape, dtype=dtype), random(len(lengths), alignment, dtype=dtype)
    leaves = [leaf(query, dtype), leaf(keys, dtype), leaf(v_a.expand(grad_v.shape), dtype)]
    weights, context = plain_attend(leaves[0], leaves[1], mask, leaves[2].unsqueeze(1), values.to(dtype))
    cost = (context * grad_context).sum() + (weights * grad_alignment).sum()
    expected = torch.autograd.grad(cost, leaves)
    expected = [expected[0], grad_keys * v_a + expected[1], grad_v + expected[2]]
    keys[~mask] = values[~mask] = torch.nan
    buffer = random(len(lengths), alignment + 2, dtype=low_precision)
    beyond = buffer[:, alignment:].clone()
    given = (grad_context, grad_alignment, weights.detach(), query, keys, v_a, values, grad_keys, grad_v)
    additive.attend_backward(*given, buffer[:, :alignment])
    for one, other in zip((buffer[:, :alignment], grad_keys * v_a, grad_v), expected, strict=True):
        assert_close(one, other, tolerance)
    assert torch.equal(buffer[:, alignment:], beyond)


@types
@sizes
def check_the_fine_grained_attention(
    lengths: list[int], n: int, alignment: int, dtype: torch.dtype, low_precision: torch.dtype, tolerance: float
) -> None:
    """A step forwards and backwards against plain PyTorch in double precision, from the same rounded operands."""
    query, keys, mask, _, _ = sentences(lengths, n, alignment, dtype, low_precision)
    keys, annotations = keys.to(dtype), random(*mask.shape, 2 * n, dtype=dtype)
    V = random(2 * n, alignment, dtype=low_precision) / alignment**0.5
    grads = [random(*shape, dtype=dtype) for shape in (annotations.shape, keys.shape, V.shape)]
    arriving = random(len(lengths), 2 * n, dtype=dtype)
    found = []
    plain = (plain_fine_grained.attend.__wrapped__, plain_fine_grained.attend_backward.__wrapped__)
    kernels = (fine_grained.attend, fine_grained.attend_backward)
    for (attend, attend_backward), kind in ((kernels, dtype), (plain, torch.float64)):
        exact = low_precision if attend is fine_grained.attend else kind
        given = [tensor.to(kind, copy=True) for tensor in (keys, annotations, arriving)]
        asked, made = query.to(exact), [grad.to(kind, copy=True) for grad in grads]
        weights, context = torch.empty_like(annotations, dtype=exact), torch.empty_like(arriving, dtype=kind)
        attend(asked, given[0], mask, V.to(exact), given[1], weights, context)
        buffer = random(len(lengths), alignment + 2, dtype=exact)
        beyond = buffer[:, alignment:].clone()
        attend_backward(
            given[2], context, weights, asked, given[0], V.to(exact), given[1], *made, buffer[:, :alignment]
        )
        assert torch.equal(buffer[:, alignment:], beyond)
        assert not weights[~mask].any()
        found.append([weights, context, *made, buffer[:, :alignment]])
    # In bfloat16 hidden units, scores and gradients are rounded on the way.
    bound = tolerance if low_precision == dtype else 0.1
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=bound, atol=bound)


@types
@pytest.mark.parametrize("n", [1, 6, 150])
@pytest.mark.parametrize("directions", [(), (2,)])
@pytest.mark.parametrize("masked", [False, True])
def check_the_gated_unit(
    masked: bool, directions: tuple[int, ...], n: int, dtype: torch.dtype, low_precision: torch.dtype, tolerance: float
) -> None:
    """One step forwards and backwards, on slices as long as the loops' (step 1 of 3), the products being random."""
    B = 3

    def slices(width: int, dtype: torch.dtype) -> Tensor:
        return random(*directions, 3, B, width, dtype=dtype)

    state, inputs, arriving, gradient = (slices(width, dtype)[..., 1, :, :] for width in (n, 3 * n, n, n))
    product, again, grad_reset, grad_product = (
        random(*directions, B, w, dtype=low_precision) for w in (2 * n, n, n, n)
    )
    present = (slices(1, dtype)[..., 0] > 0).to(dtype)[..., 1, :] if masked else None
    filled = {
        "gate": slices(2 * n, dtype),
        "reset": slices(n, low_precision),
        "candidate": slices(n, dtype),
        "new": slices(n, dtype),
        "low_precision": slices(n, low_precision),
        "out": slices(3 * n + 2, low_precision),
    }
    others = {name: tensor[..., ::2, :, :].clone() for name, tensor in filled.items()}
    gate, reset, candidate, new, copy, out = (tensor[..., 1, :, :] for tensor in filled.values())
    beyond = out[..., 3 * n :].clone()
    gated.gates(state, inputs, product, gate, reset, present)
    gated.propose(state, inputs, again, gate, candidate, new, copy)
    gated.propose_backward(state, gradient, candidate, gate, out[..., : 3 * n])
    gated.reset_backward(state, grad_reset, gate, out[..., : 3 * n])
    total = gated.state_backward(arriving, gradient, grad_reset, grad_product, gate)

    s, x = leaf(state, dtype), leaf(inputs, dtype)
    z, r = torch.sigmoid(x[..., n:] + product).split(n, dim=-1)
    z = z if present is None else z * present.unsqueeze(-1)
    made = torch.tanh(x[..., :n] + again)
    following = (1 - z) * s + z * made
    grad_state, grad_inputs = torch.autograd.grad(
        (following * gradient).sum() + (r * s * grad_reset).sum(), [s, x], retain_graph=True
    )
    assert_close(gate, torch.cat([z, r], dim=-1).detach(), tolerance)
    assert_close(reset, (r * s).detach(), tolerance)
    assert_close(candidate, made.detach(), tolerance)
    assert_close(new, following.detach(), tolerance)
    assert_close(copy, following.detach(), tolerance)
    assert_close(out[..., : 3 * n], grad_inputs, tolerance)
    assert_close(total, arriving + grad_product + grad_state, tolerance)
    assert torch.equal(out[..., 3 * n :], beyond)
    for name, tensor in filled.items():
        assert torch.equal(tensor[..., ::2, :, :], others[name]), name
    gated.propose(state, inputs, again, gate, candidate, copy)
    assert_close(copy, following.detach(), tolerance)


@types
@pytest.mark.parametrize("n", [1, 150])
@pytest.mark.parametrize("directions", [(), (2,)])
@pytest.mark.parametrize("masked", [False, True])
def check_the_lstm(
    masked: bool, directions: tuple[int, ...], n: int, dtype: torch.dtype, low_precision: torch.dtype, tolerance: float
) -> None:
    """One step forwards and backwards, on slices as long as the loops' (step 1 of 3), the product being random."""
    B = 3

    def slices(width: int, dtype: torch.dtype = dtype) -> Tensor:
        return random(*directions, 3, B, width, dtype=dtype)

    state, inputs, arriving, gradient = (slices(width)[..., 1, :, :] for width in (2 * n, 4 * n, 2 * n, 2 * n))
    product, grad_product = (random(*directions, B, width, dtype=low_precision) for width in (4 * n, n))
    kept = (slices(1) > 0).to(dtype)[..., 1, :, :] if masked else None
    filled = [slices(4 * n), slices(n), slices(2 * n), slices(n, low_precision), slices(4 * n, low_precision)]
    others = [tensor[..., ::2, :, :].clone() for tensor in filled]
    gates, squashed, new, copy, out = (tensor[..., 1, :, :] for tensor in filled)
    lstm.cell(state, inputs, product, kept, gates, squashed, new, copy)
    none = torch.zeros_like(state[..., :1])
    through = lstm.cell_backward(state, gradient, gates, squashed, none if kept is None else kept, out)
    total = lstm.state_backward(arriving, through, grad_product)

    before, sums = leaf(state, dtype), leaf(inputs + product, dtype)
    _, c = before.split(n, dim=-1)
    g, i, f, o = sums.split(n, dim=-1)
    cell = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    following = torch.cat([torch.sigmoid(o) * torch.tanh(cell), cell], dim=-1)
    if kept is not None:
        following = torch.where(kept > 0, before, following)
    grad_state, grad_sums = torch.autograd.grad((following * gradient).sum(), [before, sums])
    assert_close(new, following.detach(), tolerance)
    assert_close(copy, following.detach()[..., :n], tolerance)
    assert_close(out, grad_sums, tolerance)
    assert_close(through, grad_state, tolerance)
    assert_close(total, arriving + grad_state + functional.pad(grad_product, (0, n)), tolerance)
    for tensor, other in zip(filled, others, strict=True):
        assert torch.equal(tensor[..., ::2, :, :], other)
    plain = [torch.empty_like(tensor) for tensor in (gates, squashed, new)]
    plain_lstm.cell.__wrapped__(state, inputs, product, kept, *plain)
    for one, other in zip((gates, squashed, new), plain, strict=True):
        assert_close(one, other, tolerance)


@types
@pytest.mark.parametrize(("rows", "symbols"), [(1, 5), (7, 200), (3, softmax.COLUMNS), (2, softmax.COLUMNS + 13)])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scale", [1, 1e4])
def check_the_softmax(
    scale: float,
    masked: bool,
    rows: int,
    symbols: int,
    dtype: torch.dtype,
    low_precision: torch.dtype,
    tolerance: float,
) -> None:
    """On rows of a wider tensor, whose last 3 columns have no probability; logits are whole numbers, so sums exact."""
    buffer = (random(rows, symbols + 19, dtype=dtype) * scale).round().to(low_precision)
    logits, beyond = buffer[:, : symbols + 3], buffer[:, symbols + 3 :].clone()
    bias = functional.pad(random(symbols, dtype=dtype).round(), (0, 3), value=-torch.inf)
    words = torch.randint(symbols, (rows,), generator=RANDOM)
    words[0] = symbols - 1
    words = words.to(DEVICE)
    counted = torch.arange(rows, device=DEVICE) % 3 != 1 if masked else None

    exact, exact_bias = leaf(logits, torch.float64), leaf(bias, torch.float64)
    losses = functional.cross_entropy(exact + exact_bias, words, reduction="none")
    expected = losses.sum() if counted is None else losses[counted].sum()
    expected.backward()
    loss, grad_bias = softmax.errors(logits, words, counted, bias)
    assert loss.dtype == grad_bias.dtype == dtype
    assert_close(loss, expected.detach(), tolerance)
    assert_close(logits, exact.grad, tolerance)
    assert_close(grad_bias, exact_bias.grad, rows * 2**-7 if low_precision == torch.bfloat16 else tolerance)
    assert not logits[:, symbols:].any()
    assert torch.equal(buffer[:, symbols + 3 :], beyond)


@types
@pytest.mark.parametrize("symbols", [5, plain_words.BLOCK, words.BLOCKS * plain_words.BLOCK + 13])
@pytest.mark.parametrize(("scale", "sentences"), [(1, 2), (1e4, 2), (1, 6)])
def check_the_summary_of_words(
    scale: float, sentences: int, symbols: int, dtype: torch.dtype, low_precision: torch.dtype, tolerance: float
) -> None:
    """Of sentences with 6 rows in all, on rows of a wider tensor; some words are impossible, in a row a block."""
    buffer = (random(6, symbols + 3, dtype=dtype) * scale).to(low_precision)
    buffer[:, 3] = -torch.inf
    if symbols > plain_words.BLOCK:
        buffer[2, : plain_words.BLOCK] = -torch.inf
    logits, beyond = buffer[:, :symbols].view(sentences, 6 // sentences, symbols), buffer[:, symbols:].clone()
    plain = logits.to(torch.float64, copy=True)
    forbidden = torch.tensor([[True, False], [False, True]], device=DEVICE).repeat(sentences // 2, 1)
    expected = plain_words.summarize.__wrapped__(plain, forbidden)
    normalizers, highest = words.summarize(logits, forbidden)
    assert normalizers.dtype == dtype
    assert highest.dtype == low_precision
    assert_close(normalizers, expected[0], tolerance)
    assert torch.equal(highest.double(), expected[1])
    assert torch.equal(logits.double(), plain)
    assert torch.equal(buffer[:, symbols:], beyond)


@pytest.mark.parametrize(
    "attention",
    [
        *({"attention": "additive"}, {"attention": "additive", "score_previous": True}),
        *({"attention": "fine_grained", "score_previous": True}, {"attention": "fixed"}),
    ],
)
@pytest.mark.parametrize("unit", ["gated", "lstm"])
def check_the_whole_model(unit: str, attention: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The loops on the kernels, against the equations step by step."""
    models = [tiny_model(unit=unit, implementation=name, **attention).to(DEVICE) for name in ("readable", "fast")]
    used = []
    monkeypatch.setattr(choice, "kernels_wanted", lambda tensor: used.append(tensor) or True)
    costs = [model.summed_nll(*ragged_batch().to(torch.device(DEVICE))) for model in models]
    for cost in costs:
        cost.backward()
    assert used
    assert_close(costs[1].detach(), costs[0].detach(), 1e-12)
    for one, other in zip(*(model.named_parameters() for model in models), strict=True):
        assert_close(one[1].grad, other[1].grad, 1e-10)


def call_all(
    B: int, positions: int, n: int, alignment: int, dtype: torch.dtype, low_precision: torch.dtype, device: str
) -> None:
    """Every function once or twice, as a step of the loops calls it."""

    def zeros(*shape: int, dtype: torch.dtype = dtype) -> Tensor:
        return torch.zeros(*shape, dtype=dtype, device=device)

    query = zeros(B, alignment + 2 * n, dtype=low_precision)[:, :alignment]
    keys = zeros(B, positions, alignment, dtype=low_precision)
    values = zeros(B, positions, 4 * n, dtype=low_precision)[..., : 3 * n]
    mask, v_a, weights = zeros(B, positions, dtype=torch.bool), zeros(alignment), zeros(B, positions)
    additive.attend(query, keys, ~mask, v_a, values, weights, zeros(B, 3 * n))
    grad_keys, grad_v, out = zeros(*keys.shape), zeros(B, alignment), zeros(B, 3 * n + alignment, dtype=low_precision)
    unit, grad_query = out.split([3 * n, alignment], dim=1)
    additive.attend_backward(unit, weights, weights, query, keys, v_a, values, grad_keys, grad_v, grad_query)
    V, annotations = zeros(2 * n, alignment, dtype=low_precision), zeros(B, positions, 2 * n)
    context, shares = zeros(B, 2 * n), zeros(B, positions, 2 * n, dtype=low_precision)
    fine_grained.attend(query, keys.to(dtype), ~mask, V, annotations, shares, context)
    operands = (context, context, shares, query, keys.to(dtype), V, annotations)
    fine_grained.attend_backward(*operands, zeros(*annotations.shape), grad_keys, zeros(*V.shape), grad_query)
    for rows in ((B,), (2, B)):
        state, inputs, gate, out = (zeros(*rows, width) for width in (n, 3 * n, 2 * n, 3 * n))
        product, reset = zeros(*rows, 2 * n, dtype=low_precision), zeros(*rows, n, dtype=low_precision)
        gated.gates(state, inputs, product, gate, reset, zeros(*rows) if len(rows) == 2 else None)
        gated.propose(
            state, inputs, reset, gate, zeros(*rows, n), zeros(*rows, n), zeros(*rows, n, dtype=low_precision)
        )
        gated.propose_backward(state, state, state, gate, out.to(low_precision))
        gated.reset_backward(state, reset, gate, out.to(low_precision))
        gated.state_backward(state, state, reset, reset, gate)
        state, inputs, out = (zeros(*rows, width) for width in (2 * n, 4 * n, 4 * n))
        product, copy = (zeros(*rows, width, dtype=low_precision) for width in (4 * n, n))
        kept = zeros(*rows, 1)
        lstm.cell(state, inputs, product, kept if len(rows) == 2 else None, inputs, zeros(*rows, n), state, copy)
        lstm.cell_backward(state, state, inputs, zeros(*rows, n), kept, out.to(low_precision))
        lstm.state_backward(state, state, copy)
    targets, bias = zeros(B, dtype=torch.int64), zeros(16 * n)
    for counted in (zeros(B, dtype=torch.bool), None):
        softmax.errors(zeros(B, 16 * n, dtype=low_precision), targets, counted, bias)
    words.summarize(zeros(B, 12, 16 * n, dtype=low_precision), zeros(B, 2, dtype=torch.bool))


@pytest.mark.skipif(DEVICE == "cpu", reason="no CUDA device")
def check_a_graph_can_hold_every_call() -> None:
    size = (3, 7, 6, 5, torch.float32, torch.bfloat16, DEVICE)
    call_all(*size)  # compiled before
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call_all(*size)
    graph.replay()
    torch.cuda.synchronize()


@types
@pytest.mark.parametrize(
    ("capability", "size"), [(80, (80, 51, 1000, 1000)), (90, (80, 51, 1000, 1000)), (90, (1, 1, 1, 1))]
)
def compile_every_kernel(
    capability: int,
    size: tuple[int, int, int, int],
    dtype: torch.dtype,
    low_precision: torch.dtype,
    tolerance: float,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """For Ampere and Hopper, from the arguments that the functions pass, to machine code.

    In the types of the training it must spill nothing.
    """
    spilt = stacks(lambda: call_all(*size, dtype, low_precision, "meta"), capability, monkeypatch, tmp_path)
    assert set(spilt) == {
        *("_score", "_weigh", "_weigh_backward", "_score_backward"),
        *("_tanh_of_sum", "_weigh_dimensions", "_weigh_dimensions_backward", "_tanh_of_sum_backward"),
        *("_gates", "_propose", "_propose_backward", "_reset_backward", "_state_backward"),
        *("_cell", "_cell_backward", "_packed_backward", "_errors", "_summarize"),
    }
    assert dtype == torch.float64 or not any(spilt.values()), spilt
