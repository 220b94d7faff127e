"""The encoder by PyTorch's own LSTM, on a CPU here and cuDNN's on a GPU, against ours."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from nmt.model import encoder as encoder_module
from nmt.model.fast import cudnn
from nmt.model.fast.choice import cudnn_wanted
from nmt.system import device
from tests.model.models import KINDS, ragged_batch, tiny_model

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.get("unit") == "lstm"], ids=lambda kind: "-".join(map(str, kind.values()))
)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_the_library_computes_our_lstm(
    kind: dict[str, Any], dtype: torch.dtype, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every annotation, those of padding too, of sentences of 1 to 6 words in one direction or two."""
    encoder, batch, calls = tiny_model(dtype=dtype, **kind).to(DEVICE).encoder, ragged_batch().to(DEVICE), []
    gate = torch.rand(len(batch.source), 5, dtype=dtype, device=DEVICE) if kind.get("contextualization") else None
    read, found = cudnn.read, []
    monkeypatch.setattr(cudnn, "read", lambda *given: calls.append(1) or read(*given))
    for fast, wanted in ((False, False), (True, False), (True, True)):
        monkeypatch.setattr(encoder_module, "cudnn_wanted", lambda tensor, wanted=wanted: wanted)
        with torch.no_grad():
            found.append(encoder(batch.source, batch.source_mask, fast, gate))
    assert calls == [1]
    for one in found[1:]:
        torch.testing.assert_close(one, found[0], rtol=tolerance, atol=tolerance)


def test_the_librarys_weights_lie_in_one_piece() -> None:
    """Otherwise cuDNN copies them at each call, and PyTorch warns."""
    for unit in tiny_model(unit="lstm").encoder.units:
        weights = unit.library_weights()
        assert weights is not None
        ends = [one.data_ptr() + one.nbytes for one in weights]
        assert [one.data_ptr() for one in weights[1:]] == ends[:-1]


@pytest.mark.parametrize("unit", ["gated", "lstm"])
def test_only_an_lstm_has_the_librarys_equations(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_module, "cudnn_wanted", lambda tensor: True)
    monkeypatch.setattr(cudnn, "read", lambda *given: pytest.fail("read by cuDNN") if unit == "gated" else given[0])
    batch = ragged_batch()
    tiny_model(unit=unit).encoder(batch.source, batch.source_mask, True)


def test_only_a_gpu_and_no_training_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_cpu, on_a_gpu = torch.zeros(1), SimpleNamespace(is_cuda=True)
    with torch.no_grad():
        assert [cudnn_wanted(one) for one in (on_a_cpu, on_a_gpu)] == [False, True]
        monkeypatch.setattr(device, "SWITCHED_OFF", ["cudnn"])
        assert not cudnn_wanted(on_a_gpu)
    monkeypatch.setattr(device, "SWITCHED_OFF", [])
    assert not cudnn_wanted(on_a_gpu)
