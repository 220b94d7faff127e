"""Prepared products are those of the weights as they are, to the rounding of their precision."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from nmt.model import products
from nmt.model.products import PLAIN, Prepared
from tests.model.models import kinds, ragged_batch, tiny_model


@pytest.fixture
def weights() -> list[Tensor]:
    torch.manual_seed(0)
    return [torch.randn(rows, 24) for rows in (7, 30, 1)]


@pytest.mark.parametrize("rows", [1, 12, 65, 200])
@pytest.mark.parametrize("biased", [False, True])
def test_weights_are_joined(weights: list[Tensor], rows: int, biased: bool) -> None:
    x = torch.randn(24, rows).T  # not contiguous
    bias = torch.randn(38) if biased else None
    expected = torch.cat([functional.linear(x, weight) for weight in weights], dim=1)
    expected = expected if bias is None else expected + bias
    prepared = Prepared()
    for linear in (PLAIN, prepared, prepared):
        torch.testing.assert_close(linear(x, *weights, bias=bias), expected)
        torch.testing.assert_close(linear(x.view(1, rows, 24), *weights, bias=bias), expected.unsqueeze(0))


def test_float64_stays(weights: list[Tensor]) -> None:
    x, exact = torch.randn(5, 24).double(), [weight.double() for weight in weights]
    assert torch.equal(Prepared()(x, *exact), PLAIN(x, *exact))


def test_bfloat16_is_that_of_the_operands_alone(weights: list[Tensor]) -> None:
    """Sums are in float32, and rounded once."""
    x, bias = torch.randn(12, 24), torch.randn(38).bfloat16().float()
    operands = x.bfloat16().float(), torch.cat(weights).bfloat16().float()
    prepared = Prepared(torch.bfloat16)
    for added in (None, bias):
        expected = functional.linear(*operands, added)
        found = prepared(x, *weights, bias=added)
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, expected, rtol=2**-8, atol=1e-6)
        assert torch.equal(found, prepared(prepared.rounded(x), *weights, bias=added).float())


@kinds
def test_weights_are_laid_out_once(kind: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """In whatever order the steps come."""
    laid_out = []

    def count(weights: Tensor) -> Tensor:
        laid_out.append(weights.shape)
        return weights

    monkeypatch.setattr(products, "_laid_out", count)
    model, batch = tiny_model(**kind).eval(), ragged_batch()
    model.freeze()
    counts = []
    with torch.no_grad():
        for _ in range(3):
            memory = model.encode(batch.source, batch.source_mask)
            state = model.initial_state(memory)
            for word in (None, *batch.target.T):
                prediction = model.predict(memory, state, word)
                state = model.advance(prediction.carry, batch.target[:, 0])
            counts.append(len(laid_out))
    assert counts[0] == counts[-1] > 5


@kinds
def test_aligned_weights_change_no_result(kind: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The layout of a GPU, here on a CPU: all sizes of the tiny models need more rows."""
    shapes = []

    def aligned(weights: Tensor) -> Tensor:
        found = products._aligned(weights)
        shapes.append((len(weights), len(found)))
        return found

    monkeypatch.setattr(products, "_laid_out", aligned)
    plain, prepared, batch = tiny_model(**kind).eval(), tiny_model(**kind).eval(), ragged_batch()
    prepared.freeze()
    found = []
    with torch.no_grad():
        for model in (plain, prepared):
            memory = model.encode(batch.source, batch.source_mask)
            prediction = model.predict(memory, model.initial_state(memory), batch.target[:, 0])
            found.append((prediction.logits, model.advance(prediction.carry, batch.target[:, 0]), model(*batch)))
    torch.testing.assert_close(*found, rtol=1e-12, atol=1e-12)
    assert all(rows <= more < rows + 8 and more % 8 == 0 for rows, more in shapes)
    assert (13, 16) in shapes
