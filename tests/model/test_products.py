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
    """The bias is added in float32: a large one would round the product away."""
    x, bias = torch.randn(12, 24), torch.full((38,), 1000.0)
    rounded = functional.linear(x.bfloat16().float(), torch.cat(weights).bfloat16().float())
    prepared = Prepared(torch.bfloat16)
    for found in (prepared(x, *weights), prepared(x, *weights, bias=bias) - bias):
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, rounded, rtol=2**-8, atol=1e-4)
        assert not torch.allclose(found, functional.linear(x, torch.cat(weights)), rtol=1e-5, atol=0)


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
