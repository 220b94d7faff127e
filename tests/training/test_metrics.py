"""The folder of a training run, as the workflow sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.training.metrics import is_lost

FILES = ("model.safetensors", "summary.json", "target.tsv")


def test_a_model_is_lost_where_only_a_checkpoint_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoints, model = (tmp_path / f"data/mine/{folder}/one" for folder in ("checkpoints", "models"))
    assert not is_lost("mine", "one", FILES)  # it has never been trained, or its data is deleted
    for folder in (checkpoints, model):
        folder.mkdir(parents=True)
    assert is_lost("mine", "one", FILES)  # Snakemake leaves the folder
    (model / "summary.json").write_text("{}")
    for name in FILES[::2]:
        assert is_lost("mine", "one", FILES)
        (model / name).touch()
    assert not is_lost("mine", "one", FILES)
