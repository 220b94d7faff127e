"""The folder of a training run, as the workflow sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.training.metrics import is_lost


def test_a_model_is_lost_where_only_a_checkpoint_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoints, model = (tmp_path / f"data/mine/{folder}/one" for folder in ("checkpoints", "models"))
    assert not is_lost("mine", "one")  # it has never been trained, or its data is deleted
    for folder in (checkpoints, model):
        folder.mkdir(parents=True)
    assert is_lost("mine", "one")  # Snakemake leaves the folder
    (model / "summary.json").write_text("{}")
    assert is_lost("mine", "one")
    (model / "model.safetensors").touch()
    assert not is_lost("mine", "one")
