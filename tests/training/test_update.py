"""One update: what it changes, and that it never waits for the device."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nmt.corpora.padding import pad
from nmt.model.embedding import Embedding
from nmt.system import device
from nmt.training.batches import Batch, ahead
from nmt.training.parallel import Processes
from nmt.training.update import GraphedUpdate, Update, make_update
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
@pytest.mark.parametrize("contextualization", [None, 8])
def test_sparse_gradients_change_no_update(loss: str, contextualization: int | None) -> None:
    models = [tiny_model(contextualization=contextualization) for _ in range(2)]
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


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_captured_half_precision_updates_are_those_made_operation_by_operation() -> None:
    """Of more than 3,072 words, beyond which PyTorch sums the gradient of embeddings in another way."""
    cuda = torch.device("cuda")
    models = [tiny_model(dtype=torch.float32).to(cuda) for _ in range(2)]
    optimization = tiny_variant(optimizer="adam", precision="bf16", batch=80).optimization
    plain, captured = Update(models[0], optimization, cuda, Processes()), GraphedUpdate(models[1], optimization, cuda)
    for number in range(4):
        sources, targets = ragged_pairs(number, lengths=((50, 45),) * 80)
        batch = Batch(*pad(sources, cuda), *pad(targets, cuda))
        torch.testing.assert_close(captured(batch), plain(batch), rtol=1e-2, atol=1e-2)
    assert len(captured.graphs) == 1


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_many_captured_updates_drift_no_further_than_rounding() -> None:
    """300 updates, prepared ahead by another thread as in a training."""
    cuda = torch.device("cuda")
    models = [tiny_model(dtype=torch.float64).to(cuda) for _ in range(2)]
    optimization = tiny_variant(optimizer="adam").optimization
    plain, captured = Update(models[0], optimization, cuda, Processes()), GraphedUpdate(models[1], optimization, cuda)

    def make(number: int) -> Batch:
        sources, targets = ragged_pairs(number % 7, lengths=((5 + number % 3 * 8, 3 + number % 5 * 8), (1, 2)))
        return Batch(*pad(sources), *pad(targets)).pinned()

    with ahead(make, 0) as batches:
        for number in range(300):
            batch = next(batches)
            ours, theirs = captured(batch.to(cuda)), plain(batch.to(cuda))
            if number % 50 == 0:
                torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)
    assert captured.graphs
    assert not captured.failed
    for one, other in zip(*(model.parameters() for model in models), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-8)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_failed_capture_is_one_warning(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cuda = torch.device("cuda")
    models = [tiny_model(dtype=torch.float32).to(cuda) for _ in range(2)]
    optimization = tiny_variant().optimization
    plain, captured = Update(models[0], optimization, cuda, Processes()), GraphedUpdate(models[1], optimization, cuda)
    differentiate = Update.differentiate

    def waiting(update: Update, cost: torch.Tensor) -> None:
        if update is captured:
            cost.item()
        differentiate(update, cost)

    monkeypatch.setattr(Update, "differentiate", waiting)
    for _ in range(4):
        batch = ragged_batch().to(cuda)
        torch.testing.assert_close(captured(batch), plain(batch), rtol=1e-4, atol=1e-4)
    assert not captured.graphs
    assert capsys.readouterr().err.count("warning") == 1


@pytest.mark.parametrize(
    ("switched_off", "expected"), [("", GraphedUpdate), ("triton", GraphedUpdate), ("triton,graphs", Update)]
)
def test_graphs_can_be_switched_off(switched_off: str, expected: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "SWITCHED_OFF", switched_off.split(","))
    monkeypatch.setattr(GraphedUpdate, "__init__", Update.__init__)
    made = make_update(tiny_model(), tiny_variant().optimization, torch.device("cuda"), Processes())
    assert type(made) is expected
