"""Figure 3: the matrices that are drawn, the same bytes each time, and points that do not make a matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nmt.__main__ import main
from nmt.report.drawing import style
from nmt.report.heatmap import draw
from nmt.report.panels import COLUMNS, read_panels

HEADER = ",".join(COLUMNS) + "\n"


def points_file(folder: Path, text: str) -> Path:
    (folder / "points.csv").write_text(HEADER + text, encoding="utf-8")
    return folder / "points.csv"


def test_a_panel_shows_words_as_they_are_read(tmp_path: Path) -> None:
    path = points_file(tmp_path, "a,0,0,l&apos;,the,0.75\na,0,1,l&apos;,$x$,0.25\na,1,0,NA,the,0\na,1,1,NA,$x$,1\n")
    with style():
        axes, scale = draw(read_panels(str(path))).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["the", "$x$"]
    assert not any(label.get_parse_math() for label in axes.get_xticklabels())
    assert [label.get_text() for label in axes.get_yticklabels()] == ["l'", "NA"]
    assert axes.get_xlabel() == "(a)"
    (image,) = axes.images
    assert np.asarray(image.get_array()).tolist() == [[0.75, 0.25], [0, 1]]
    assert image.get_clim() == (0, 1)
    assert image.to_rgba(np.array([0.0, 1.0]))[:, 0].tolist() == [0, 1]
    assert scale.get_title() == "weight"
    assert [label.get_text() for label in scale.get_yticklabels()] == ["0.0", "0.5", "1.0"]


def test_panels_fill_rows_of_at_most_two(tmp_path: Path) -> None:
    path = points_file(tmp_path, "".join(f"{letter},0,0,x,y,0.5\n" for letter in "abc"))
    with style():
        shown = [axes.get_xlabel() if axes.axison else None for axes in draw(read_panels(str(path))).axes[:-1]]
    assert shown == ["(a)", "(b)", "(c)", None]


def test_no_word_is_cut(tmp_path: Path) -> None:
    """The panels leave room for their words, whatever their shapes, and for the scale."""
    shapes = {"a": (15, 13), "b": (17, 17), "c": (19, 17), "d": (20, 18)}
    rows = [
        f"{letter},{row},{column},{'historiques'[: 3 + row]},manufacturer,0.5\n"
        for letter, (high, wide) in shapes.items()
        for row in range(high)
        for column in range(wide)
    ]
    with style():
        figure = draw(read_panels(str(points_file(tmp_path, "".join(rows)))))
        figure.draw_without_rendering()
        for axes in figure.axes:
            box = axes.get_tightbbox()
            assert box is not None
            assert 0 <= box.x0 < box.x1 <= figure.bbox.width
            assert 0 <= box.y0 < box.y1 <= figure.bbox.height


def test_same_bytes_and_no_panel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("a,0,0,œuvre,work,1\nb,0,0,x,y,0.5\nc,0,0,x,y,0.5\n", ""):
        path = points_file(tmp_path, text)
        runs = []
        for run in ("first", "second"):
            outputs = [tmp_path / run / f"figure3.{kind}" for kind in ("pdf", "svg", "png")]
            assert main(["bahdanau2015.figure3", "--points", str(path), "--outputs", *map(str, outputs)]) == 0
            runs.append([output.read_bytes() for output in outputs])
        assert runs[0] == runs[1]
    assert "Figure 3 is empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,0,1,x,y,1\n", "panel a has 1 weights, not 2"),
        ("a,0,0,x,y,1\na,0,0,x,y,2\n", "row 3: this weight is there twice"),
        ("a,0,0,x,y,dark\n", "row 2"),
        ("a,0\n", "row 2 has 2 cells"),
    ],
)
def test_bad_points(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    path = points_file(tmp_path, text)
    assert main(["bahdanau2015.figure3", "--points", str(path), "--outputs", str(tmp_path / "figure3.png")]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
