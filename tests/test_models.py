"""The model that comes with the project: it is small, and it translates."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.__main__ import main

MODEL = Path(__file__).parents[1] / "models/en-fr"


def test_it_translates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    english = "The committee adopted the report of the president.\nI do not know where he lives.\n"
    (tmp_path / "english.txt").write_text(english)
    assert main(["translate", "--model", str(MODEL), "--source", str(tmp_path / "english.txt"), "--device", "cpu"]) == 0
    french = capsys.readouterr().out.split("\n")
    assert french[:2] == ["Le comité a adopté le rapport du président.", "Je ne sais pas où il habite."]


def test_it_is_small() -> None:
    assert sum(file.stat().st_size for file in MODEL.iterdir()) < 12e6
