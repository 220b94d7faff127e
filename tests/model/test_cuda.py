"""The same function on a GPU; skipped where there is none."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor

from nmt.model.fast import softmax
from nmt.model.readout import Readout
from tests.model.models import kinds, ragged_batch, tiny_model, tiny_variant

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@kinds
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_cuda_computes_what_the_cpu_does(kind: dict[str, Any], dtype: torch.dtype) -> None:
    exact, model = tiny_model(**kind), tiny_model(dtype=dtype, **kind).cuda()
    expected, cost = exact.summed_nll(*ragged_batch()), model.summed_nll(*ragged_batch().to(torch.device("cuda")))
    expected.backward()
    cost.backward()
    tolerance = 1e-4 if dtype == torch.float32 else 1e-10
    torch.testing.assert_close(cost.cpu().double(), expected, rtol=tolerance, atol=tolerance)
    for ours, theirs in zip(model.parameters(), exact.parameters(), strict=True):
        assert (ours.grad.cpu() - theirs.grad).abs().max() <= tolerance * max(1.0, theirs.grad.abs().max().item())


@pytest.mark.parametrize("chunk", [7, softmax.GPU_CHUNK])
@pytest.mark.parametrize(
    ("dtype", "low_precision", "tolerance"),
    [(torch.float64, None, 1e-10), (torch.float32, None, 1e-4), (torch.float32, torch.bfloat16, 0.02)],
)
def test_cuda_computes_the_summed_likelihood_of_the_cpu(
    dtype: torch.dtype,
    low_precision: torch.dtype | None,
    tolerance: float,
    chunk: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of more symbols than a block of the kernel has columns; a repetition gives the same bytes."""
    monkeypatch.setattr(softmax, "GPU_CHUNK", chunk)
    torch.manual_seed(1)
    exact = Readout(10_001, tiny_variant(maxout=50).architecture, 6).double()
    for parameter in exact.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    hidden, words, counted = torch.randn(30, 50).double(), torch.randint(10_001, (30,)), torch.arange(30) % 4 > 0

    def results(model: Readout, device: str) -> list[Tensor]:
        states = hidden.to(device, model.W_o.dtype).requires_grad_()
        cost = model.summed_nll(states, words.to(device), counted.to(device))
        gradients = torch.autograd.grad(cost, [states, model.W_o, model.b_o])
        return [part.detach() for part in (cost, *gradients)]

    expected = results(exact, "cpu")
    model = copy.deepcopy(exact).to("cuda", dtype)
    with torch.autocast("cuda", low_precision, enabled=low_precision is not None):
        ours, again = results(model, "cuda"), results(model, "cuda")
    for one, other, theirs in zip(ours, again, expected, strict=True):
        assert one.dtype == dtype
        assert torch.equal(one, other)
        assert (one.cpu() - theirs).abs().max() <= tolerance * theirs.abs().max()
