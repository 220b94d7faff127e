"""Figure 2: lines that differ without colour, gaps for empty bins between others, and the same bytes each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.papers.bahdanau2015.figure2 import draw, read_points
from nmt.report.drawing import style


@pytest.fixture
def csv_file(tmp_path: Path) -> Path:
    """Two models, whose sentences are in the first and the fourth bin."""
    rows = ["model,length_from,length_to,sentences,bleu"]
    for model, first in (("RNNsearch-50*", "100.00"), ("$a_b$ $", "88.12")):
        filled = {0: f"3,{first}", 30: "1,100.00"}
        rows += [f"{model},{low},{low + 10},{filled.get(low, '0,')}" for low in range(0, 60, 10)] + [f"{model},60,,0,"]
    (tmp_path / "points.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / "points.csv"


def test_lines_differ_without_colour_and_empty_bins_are_gaps(csv_file: Path) -> None:
    with style():
        above, below = draw(read_points(str(csv_file))).axes
    first, second = above.lines
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_marker() != second.get_marker()
    assert [bool(y == y) for y in first.get_ydata()] == [True, False, False, True]
    assert [text.get_text() for text in below.texts] == ["3", "0", "0", "1"]
    assert [label.get_text() for label in below.get_xticklabels()][-2:] == ["21–30", "31–40"]  # the last bins are empty


def test_the_legend_has_every_label(csv_file: Path) -> None:
    csv_file.write_text(csv_file.read_text().replace("RNNsearch-50*", "_hidden"))
    with style():
        [legend] = draw(read_points(str(csv_file))).legends
    assert [text.get_text() for text in legend.get_texts()] == ["_hidden", "$a_b$ $"]


def test_same_bytes(csv_file: Path, tmp_path: Path) -> None:
    runs = []
    for run in ("first", "second"):
        outputs = [tmp_path / run / f"figure2.{kind}" for kind in ("pdf", "svg", "png")]
        assert main(["bahdanau2015.figure2", "--points", str(csv_file), "--outputs", *map(str, outputs)]) == 0
        runs.append([output.read_bytes() for output in outputs])
    assert runs[0] == runs[1]
    assert [content[:5] for content in runs[0]] == [b"%PDF-", b"<?xml", b"\x89PNG\r"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "columns must be"),
        ("model,bleu\n", "columns must be"),
        ("model,length_from,length_to,sentences,bleu\n", "no points"),
        ("model,length_from,length_to,sentences,bleu\na,0,10,1,high\n", "row 2"),
        ("model,length_from,length_to,sentences,bleu\na,0,10,1,inf\n", "row 2: not a finite number: 'inf'; make"),
        (f"model,length_from,length_to,sentences,bleu\na,0,10,{'9' * 5000},1\n", "row 2: not a whole number"),
        ("model,length_from,length_to,sentences,bleu\na,0,10,1,1\nb,0,20,1,1\n", "bins differ"),
    ],
)
def test_bad_points(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    (tmp_path / "points.csv").write_text(text, encoding="utf-8")
    output = tmp_path / "figure2.png"
    assert main(["bahdanau2015.figure2", "--points", str(tmp_path / "points.csv"), "--outputs", str(output)]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not output.exists()


def test_bad_options(csv_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "figure2.png", tmp_path / "figure2.gif"
    assert main(["bahdanau2015.figure2", "--points", str(csv_file), "--outputs", str(good), str(bad)]) == 1
    assert "does not end in .pdf, .svg, .png" in capsys.readouterr().err
    assert not good.exists()
