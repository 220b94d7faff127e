"""Figure 2: edges of the bins, empty bins, and a drawing that is the same bytes each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.evaluation.bleu import tokenized_bleu
from nmt.evaluation.lengths import bin_of, bins, points
from nmt.papers.bahdanau2015.figure2 import draw, read_points
from nmt.report.drawing import style


@pytest.mark.parametrize(
    ("words", "expected"),
    [(0, 0), (1, 0), (10, 0), (11, 1), (20, 1), (30, 2), (60, 5), (61, 6), (100_000, 6)],
)
def test_bin_edges(words: int, expected: int) -> None:
    assert bin_of(words, 10) == expected
    low, high = bins(10)[expected]
    assert words == 0 or low < words <= (high or words)


def test_bins_meet_and_the_last_is_open() -> None:
    assert bins(10) == [(0, 10), (10, 20), (20, 30), (30, 40), (40, 50), (50, 60), (60, None)]
    assert bins(25) == [(0, 25), (25, 50), (50, 75), (75, None)]
    assert bins(100) == [(0, 100), (100, None)]


def test_points_count_and_score_each_bin() -> None:
    sources = ["a"] * 10 + [" ".join("a" * 11)]
    references = ["a b c d"] * 9 + ["a b c e"] + ["a b c d e"]
    translations = ["a b c d"] * 10 + ["x"]
    rows = points("m", sources, references, translations, 10)
    assert rows[0] == ["m", 0, 10, 10, f"{tokenized_bleu(translations[:10], references[:10])[0]:.2f}"]
    assert rows[1] == ["m", 10, 20, 1, "0.00"]
    assert rows[2:] == [["m", low, low + 10, 0, ""] for low in (20, 30, 40, 50)] + [["m", 60, None, 0, ""]]


@pytest.fixture
def csv_file(tmp_path: Path) -> Path:
    words = ["a b c d e f g"] * 3 + [" ".join("abcdefg" * 5)]
    for name, texts in {"source": words, "reference": words, "one": words, "two": ["a b c d", *words[1:]]}.items():
        (tmp_path / name).write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    code = main(
        [
            *("lengths", "--source", str(tmp_path / "source"), "--reference", str(tmp_path / "reference")),
            *("--translations", str(tmp_path / "one"), str(tmp_path / "two")),
            *("--labels", "RNNsearch-50*", "$a_b$ $", "--bin-width", "10", "--output", str(tmp_path / "points.csv")),
        ]
    )
    assert code == 0
    return tmp_path / "points.csv"


def test_csv_columns(csv_file: Path) -> None:
    lines = csv_file.read_text(encoding="utf-8").split("\n")
    assert lines[0] == "model,length_from,length_to,sentences,bleu"
    assert lines[1] == "RNNsearch-50*,0,10,3,100.00"
    assert lines[2] == "RNNsearch-50*,10,20,0,"
    assert lines[7] == "RNNsearch-50*,60,,0,"
    assert len(lines) == 1 + 2 * 7 + 1


def test_lines_differ_without_colour_and_empty_bins_are_gaps(csv_file: Path) -> None:
    with style():
        above, below = draw(read_points(str(csv_file))).axes
    first, second = above.lines
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_marker() != second.get_marker()
    assert [bool(y == y) for y in first.get_ydata()] == [True, False, False, True, False, False, False]
    assert [text.get_text() for text in below.texts] == ["3", "0", "0", "1", "0", "0", "0"]
    assert [label.get_text() for label in below.get_xticklabels()][-2:] == ["51–60", ">60"]


def test_same_bytes(csv_file: Path, tmp_path: Path) -> None:
    runs = []
    for run in ("first", "second"):
        outputs = [tmp_path / run / f"figure2.{kind}" for kind in ("pdf", "svg", "png")]
        assert main(["figure2", "--points", str(csv_file), "--outputs", *map(str, outputs)]) == 0
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
        ("model,length_from,length_to,sentences,bleu\na,0,10,1,1\nb,0,20,1,1\n", "bins differ"),
    ],
)
def test_bad_points(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    (tmp_path / "points.csv").write_text(text, encoding="utf-8")
    output = tmp_path / "figure2.png"
    assert main(["figure2", "--points", str(tmp_path / "points.csv"), "--outputs", str(output)]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not output.exists()


def test_bad_options(csv_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "figure2.png", tmp_path / "figure2.gif"
    assert main(["figure2", "--points", str(csv_file), "--outputs", str(good), str(bad)]) == 1
    assert "does not end in .pdf, .svg, .png" in capsys.readouterr().err
    assert not good.exists()
    text = str(tmp_path / "source")
    words = ["lengths", "--source", text, "--reference", text, "--translations", text, "--labels", "a"]
    assert main([*words, "--bin-width", "0", "--output", str(tmp_path / "p")]) == 1
    assert "--bin-width: 0" in capsys.readouterr().err


def test_figure1_same_bytes(tmp_path: Path) -> None:
    runs = []
    for run in ("first", "second"):
        outputs = [tmp_path / run / f"figure1.{kind}" for kind in ("pdf", "svg", "png")]
        assert main(["figure1", "--outputs", *map(str, outputs)]) == 0
        runs.append([output.read_bytes() for output in outputs])
    assert runs[0] == runs[1]
