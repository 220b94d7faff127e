"""Figure 4's points: the slices of alpha that the table of dimensions names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nmt.__main__ import main
from nmt.papers.choi2017.specialized_dimensions import COLUMNS
from nmt.report.panels import read_panels
from tests.papers.choi2017 import fine


def step(folder: Path, *dimensions: tuple[str, str]) -> int:
    rows = [",".join([name, dimension, "1.5", "0.5", "0.1", "0.1", "20"]) for name, dimension in dimensions]
    (folder / "dimensions.csv").write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")
    files = ["--dimensions", str(folder / "dimensions.csv"), "--output", str(folder / "figure4.csv")]
    return main(["choi2017.dimension_weights", *fine.options(folder), "--line", "2", *files])


def test_a_panel_for_each_dimension(tmp_path: Path) -> None:
    assert step(fine.make(tmp_path), ("article", "1"), ("alignment", "12")) == 0
    alpha = fine.equations(2)
    panels = read_panels(str(tmp_path / "figure4.csv"))
    assert [panel.letter for panel in panels] == ["article, dimension 1", "alignment, dimension 12"]
    for panel, dimension in zip(panels, (0, 11), strict=True):
        assert panel.source == ["s4", "s4", "s10", "s2", "s5", "<eos>"]
        assert panel.target == ["t9", "t4", "t4", "t12", "<eos>"]
        np.testing.assert_allclose(panel.weights, alpha[..., dimension], atol=2e-6)


def test_a_table_without_dimensions_has_no_panels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert step(fine.make(tmp_path)) == 0
    assert read_panels(str(tmp_path / "figure4.csv"), may_be_empty=True) == []
    assert "dimensions.csv: no dimensions in it, so there are no weights\n" in capsys.readouterr().err


@pytest.mark.parametrize("dimension", ["0", "13", "many", pytest.param("9" * 5000, id="long")])
def test_a_dimension_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str], dimension: str) -> None:
    assert step(fine.make(tmp_path), ("noun", dimension)) == 1
    error = capsys.readouterr().err
    assert f"has no dimension {dimension[:50]}; make it again" in error
    assert error.count("\n") == 1
