"""Figure 3: the matrix that is drawn, the same bytes each time, and points that do not make a matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nmt.__main__ import main
from nmt.papers.choi2017.figure3 import draw, read_points
from nmt.papers.choi2017.mean_weights import COLUMNS
from nmt.report.drawing import style

HEADER = ",".join(COLUMNS) + "\n"
POINTS = "0,$x$,1,0.1\n0,$x$,2,0.2\n0,$x$,3,0.3\n1,re@@,1,0.9\n1,re@@,2,0.8\n1,re@@,3,0.7\n"


def test_symbols_against_dimensions(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text(HEADER + POINTS)
    with style():
        axes = draw(*read_points(str(path))).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["$x$", "re@@"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1"]
    (image,) = axes.images
    assert np.asarray(image.get_array()).tolist() == [[0.1, 0.2, 0.3], [0.9, 0.8, 0.7]]
    assert image.get_clim() == (0, 0.9)
    runs = []
    for run in ("first", "second"):
        outputs = [tmp_path / run / f"figure3.{kind}" for kind in ("pdf", "svg", "png")]
        assert main(["choi2017.figure3", "--points", str(path), "--outputs", *map(str, outputs)]) == 0
        runs.append([output.read_bytes() for output in outputs])
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (POINTS.replace("1,re@@,2,0.8\n", ""), "5 weights, not 2 x 3; make the file again"),
        ("0,a,1,dark\n", "row 2: "),
        ("0,a,one,0.5\n", "row 2: "),
        ("0,a,1,0.5\n0,a,1,0.9\n", "row 3: this weight is there twice; make the file again"),
        ("0,a,0,0.5\n", "row 2: dimensions are counted from 1; make the file again"),
        ("0,a,1,1e308\n", "row 2: not a number from 0 to 1: '1e308'; make the file again"),
        ("0,a,1,-0.1\n", "row 2: not a number from 0 to 1: '-0.1'"),
        ("", "no weights in it"),
    ],
)
def test_bad_points(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    path = tmp_path / "points.csv"
    path.write_text(HEADER + text)
    assert main(["choi2017.figure3", "--points", str(path), "--outputs", str(tmp_path / "figure3.png")]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
