"""Figures 2 and 4 draw panels three in a row, each under its name; the same bytes each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.report.panels import COLUMNS

POINTS = "".join(f"{name},0,0,œuvre,work,0.75\n" for name in ("Baseline", "AttY", "AttY2D", "C+AttY2D"))


@pytest.mark.parametrize(
    ("figure", "code", "said"),
    [
        ("figure2", 1, "points.csv: no alignment in it; make the file again"),
        ("figure4", 0, "points.csv: no weights in it; Figure 4 is empty"),
    ],
)
def test_panels_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str], figure: str, code: int, said: str) -> None:
    (tmp_path / "points.csv").write_text(",".join(COLUMNS) + "\n" + POINTS, encoding="utf-8")
    drawn = []
    for run in ("first", "second"):
        outputs = [str(tmp_path / run / f"{figure}.{kind}") for kind in ("pdf", "svg", "png")]
        assert main([f"choi2017.{figure}", "--points", str(tmp_path / "points.csv"), "--outputs", *outputs]) == 0
        drawn.append([Path(output).read_bytes() for output in outputs])
    assert drawn[0] == drawn[1]
    svg = drawn[0][1].decode()
    for text in ("(Baseline)", "(AttY)", "(AttY2D)", "(C+AttY2D)", "œuvre"):
        assert f"<!-- {text} -->" in svg
    (tmp_path / "points.csv").write_text(",".join(COLUMNS) + "\n")
    assert main([f"choi2017.{figure}", "--points", str(tmp_path / "points.csv"), "--outputs", *outputs]) == code
    assert said in capsys.readouterr().err
    width, height = (int.from_bytes(drawn[0][2][place : place + 4]) for place in (16, 20))
    assert width > 1.4 * height
