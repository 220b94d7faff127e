"""Figure 2's points: each model's alignment of its own translation, the fine-grained one averaged over dimensions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nmt.__main__ import main
from nmt.report.panels import read_panels
from tests.papers.choi2017 import fine


def words(folder: Path, *models: str) -> list[str]:
    (folder / "other.txt").write_text("t5 t6 t7\n" * len(fine.SOURCE))
    options = ["--model", *(str(folder / model) for model in models), "--labels", *models]
    options += ["--source", str(folder / "source.txt"), "--line", "2", "--device", "cpu"]
    return ["choi2017.model_alignments", *options, "--output", str(folder / "figure2.csv"), "--translation"]


def test_a_panel_for_each_model(tmp_path: Path) -> None:
    options = words(fine.make(tmp_path), "plain", "fine")
    assert main([*options, str(tmp_path / "other.txt"), str(tmp_path / "target.txt")]) == 0
    plain, averaged = read_panels(str(tmp_path / "figure2.csv"))
    assert (plain.letter, averaged.letter) == ("plain", "fine")
    assert plain.source == averaged.source == ["s4", "s4", "s10", "s2", "s5", "<eos>"]
    assert plain.target == ["t5", "t6", "t7", "<eos>"]
    assert averaged.target == ["t9", "t4", "t4", "t12", "<eos>"]
    np.testing.assert_allclose(averaged.weights, fine.equations(2).mean(axis=-1), atol=2e-6)
    np.testing.assert_allclose(plain.weights.sum(axis=1), 1, atol=1e-5)


def test_what_does_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = words(fine.make(tmp_path), "fine", "fixed")
    texts = [str(tmp_path / f"{name}.txt") for name in ("target", "other")]
    assert main([*options, *texts]) == 1
    assert "but Figure 2 needs attention" in capsys.readouterr().err
    assert main([*options, *texts, "--output", str(tmp_path / "fine/summary.json")]) == 1
    assert "fine/summary.json: lies in " in capsys.readouterr().err
    assert main([*options, texts[0]]) == 1
    assert "2 labels for 1 files of --translation; give one label for each file" in capsys.readouterr().err
