"""Figure 2: lines that differ without colour, bands, gaps for empty bins, hollow small ones, the same bytes again."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.monitor.gather_metrics import COLUMNS as CURVES
from nmt.papers.bahdanau2015.figure2 import draw, read_points
from nmt.report import learning_curves
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


def banded(folder: Path) -> str:
    """Points of one model with bands; its third bin has few sentences."""
    rows = ["0,10,40,20.00,15.00,26.00", "10,20,30,18.00,14.00,21.00", "20,30,29,9.00,2.00,19.00", "30,,0,,,"]
    text = "model,length_from,length_to,sentences,bleu,lower,upper\n" + "".join(f"RNNsearch-50,{row}\n" for row in rows)
    (folder / "banded.csv").write_text(text)
    return str(folder / "banded.csv")


def test_bands_show_the_resamples_and_bins_of_few_sentences_are_hollow(tmp_path: Path) -> None:
    with style():
        figure = draw(read_points(banded(tmp_path)))
    above, below = figure.axes
    hollow, band = above.collections
    assert hollow.get_offsets().tolist() == [[2, 9]]
    assert hollow.get_facecolor().tolist() == [[1, 1, 1, 1]]
    corners = band.get_paths()[0].vertices.tolist()
    assert all(corner in corners for corner in ([0, 15], [0, 26], [1, 14], [1, 21], [2, 2], [2, 19]))
    assert [bar.get_facecolor()[0] for bar in below.patches] == [0.8, 0.8, 1]
    assert figure.get_supxlabel() == "bands: 95 % of bootstrap samples; hollow: fewer than 30 sentences"
    assert below.get_xlabel() == "Sentence length (source words)"


def test_points_of_earlier_versions_are_drawn_without_bands(csv_file: Path) -> None:
    csv_file.write_text(csv_file.read_text().replace("model,", '"model",', 1))  # as some spreadsheets save it
    with style():
        figure = draw(read_points(str(csv_file)))
    assert figure.get_supxlabel() == "hollow: fewer than 30 sentences"
    assert all(not len(band.get_paths()) for band in figure.axes[0].collections[1::2])


@pytest.mark.parametrize("highest", [0.5, 8.3, 18.5, 44.7, 91.0])
def test_the_ticks_are_round(tmp_path: Path, highest: float) -> None:
    path = tmp_path / "points.csv"
    path.write_text(f"model,length_from,length_to,sentences,bleu\na,0,10,50,{highest}\na,10,,50,{highest / 2}\n")
    with style():
        ticks = draw(read_points(str(path))).axes[0].get_yticks()
    step = ticks[1] - ticks[0]
    assert any(step == pytest.approx(digit * 10.0**power) for digit in (1, 2, 5) for power in (-1, 0, 1))


def test_a_system_looks_as_in_the_learning_curves(csv_file: Path, tmp_path: Path) -> None:
    """Also where the two figures show different systems, and one has no style by its name."""
    systems = ["own", "RNNsearch-50*", "$a_b$ $"]
    (tmp_path / "curves.csv").write_text(
        ",".join(CURVES) + "".join(f"\n{name},train_nll,50,1,9,1,0" for name in systems) + "\n"
    )
    with style():
        points = draw(read_points(str(csv_file)), systems)
        curves = learning_curves.draw(learning_curves.read_curves(str(tmp_path / "curves.csv")), {}, systems)
    seen = [
        {line.get_label(): (line.get_color(), line.get_marker(), line._dash_pattern) for line in figure.axes[0].lines}
        for figure in (points, curves)
    ]
    for name in ("RNNsearch-50*", "$a_b$ $"):
        # the pattern is in points: the two figures have lines of different widths
        assert seen[0][name][:2] == seen[1][name][:2]
        assert bool(seen[0][name][2][1]) == bool(seen[1][name][2][1])


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
        ("model,length_from,length_to,sentences,bleu\na,0,10,1,101\n", "row 2: not a number from 0 to 100: '101'"),
        (f"model,length_from,length_to,sentences,bleu\na,0,10,{'9' * 5000},1\n", "row 2: not a whole number"),
        ("model,length_from,length_to,sentences,bleu\na,0,10,1,1\nb,0,20,1,1\n", "bins differ"),
        ("model,length_from,length_to,sentences,bleu\na,10,20,1,1\na,0,10,1,1\n", "bins of a do not follow"),
        ("model,length_from,length_to,sentences,bleu\na,0,10,1,1\na,0,10,1,1\n", "bins of a do not follow"),
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
