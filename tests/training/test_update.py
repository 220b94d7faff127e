"""One update: what it changes, and that it never waits for the device."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nmt.model.embedding import Embedding
from nmt.training.batches import Batch, pad
from nmt.training.parallel import Processes
from nmt.training.update import GraphedUpdate, Update
from tests.model.models import kinds, ragged_batch, ragged_pairs, tiny_model
from tests.training.toy import tiny_variant

CPU = torch.device("cpu")


@kinds
def test_an_update_waits_for_nothing_on_a_gpu(kind: dict[str, Any]) -> None:
    """Tensors on the meta device have no values: asking for one, or for a size that depends on one, is an error."""
    model = tiny_model(dtype=torch.float32, **kind).to("meta")
    batch = Batch(*(part.to("meta") for part in ragged_batch()))
    with pytest.raises(RuntimeError):
        batch.target[batch.target_mask]
    update = Update(model, tiny_variant().optimization, torch.device("meta"), Processes())
    for rate in (1.0, torch.empty((), device="meta")):
        update.optimizer.set_learning_rate(rate)
        cost, norm = update(batch)
        assert cost.shape == norm.shape == ()


@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_sparse_gradients_change_no_update(loss: str) -> None:
    models = [tiny_model() for _ in range(2)]
    updates = [Update(model, tiny_variant(loss=loss).optimization, CPU) for model in models]
    for module in models[1].modules():
        if isinstance(module, Embedding):
            assert module.sparse
            module.sparse = False
    costs = []
    for number in range(20):
        results = [update(ragged_batch(seed=number % 3)) for update in updates]
        torch.testing.assert_close(*results)
        costs.append(results[0][0].item())
    for one, other in zip(*(model.parameters() for model in models), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)
    assert costs[-3] < costs[0]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("optimizer", ["adadelta", "adam"])
def test_captured_updates_are_those_made_operation_by_operation(optimizer: str) -> None:
    """Three shapes in turn: each runs operation by operation, is captured, and is then replayed, at falling rates."""
    cuda = torch.device("cuda")
    models = [tiny_model(dtype=torch.float32).to(cuda) for _ in range(2)]
    optimization = tiny_variant(optimizer=optimizer).optimization
    plain = Update(models[0], optimization, cuda, Processes())
    captured = GraphedUpdate(models[1], optimization, cuda)
    for number in range(15):
        shape = ((5, 3), (12, 3), (9, 20))[number % 3]
        sources, targets = ragged_pairs(number, lengths=(shape, (1, 2), (shape[0], 1)))
        batch = Batch(*pad(sources, cuda), *pad(targets, cuda))
        for update in (captured, plain):
            update.set_learning_rate((15 - number) / 15)
        torch.testing.assert_close(captured(batch), plain(batch), rtol=1e-4, atol=1e-4)
    assert len(captured.graphs) == 3
    for one, other in zip(*(model.parameters() for model in models), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def test_half_precision_products_follow_exact_ones() -> None:
    models = [tiny_model(dtype=torch.float32) for _ in range(2)]
    settings = [tiny_variant(precision=precision).optimization for precision in ("float32", "bf16")]
    updates = [Update(model, optimization, CPU) for model, optimization in zip(models, settings, strict=True)]
    for number in range(30):
        exact, rounded = (update(ragged_batch(seed=number % 3))[0] for update in updates)
        torch.testing.assert_close(exact, rounded, rtol=0.05, atol=0)
    assert all(parameter.dtype == torch.float32 for parameter in models[1].parameters())
