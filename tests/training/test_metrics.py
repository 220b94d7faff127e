"""The folder of a training run, as the workflow sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nmt.training.metrics import forget_checkpoint


@pytest.mark.parametrize(("summary", "kept"), [({}, False), ({"finished": True}, False), ({"finished": False}, True)])
def test_a_checkpoint_is_forgotten_once_its_model_is_safe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, summary: dict[str, bool], kept: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoint, model = (tmp_path / f"data/mine/{folder}/one" for folder in ("checkpoints", "models"))
    forget_checkpoint("mine", "one")
    for folder in (checkpoint, model):
        folder.mkdir(parents=True)
    (checkpoint / "latest.pt").touch()
    forget_checkpoint("mine", "one")
    assert (checkpoint / "latest.pt").exists()  # there is no model
    (model / "summary.json").write_text(json.dumps(summary))
    forget_checkpoint("mine", "one")
    assert checkpoint.exists() == kept


def test_other_files_beside_a_checkpoint_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (
        "data/mine/checkpoints/one/latest.pt",
        "data/mine/checkpoints/one/notes",
        "data/mine/models/one/summary.json",
    ):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("{}")
    forget_checkpoint("mine", "one")
    assert [path.name for path in Path("data/mine/checkpoints/one").iterdir()] == ["notes"]
