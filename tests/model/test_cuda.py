"""The same function on a GPU; skipped where there is none."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.model.models import kinds, ragged_batch, tiny_model

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
