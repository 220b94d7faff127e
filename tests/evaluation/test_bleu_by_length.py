"""BLEU by length: edges of the bins, counts and scores of each, and settings that make no bins."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.evaluation.bins import bin_of, bins
from nmt.evaluation.bleu import corpus_bleu
from nmt.evaluation.bleu_by_length import points


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
    rows = points("m", sources, references, translations, 10, "none")
    assert rows[0] == ["m", 0, 10, 10, f"{corpus_bleu(translations[:10], references[:10])[0]:.2f}"]
    assert rows[1] == ["m", 10, 20, 1, "0.00"]
    assert rows[2:] == [["m", low, low + 10, 0, ""] for low in (20, 30, 40, 50)] + [["m", 60, None, 0, ""]]


@pytest.fixture
def csv_file(tmp_path: Path) -> Path:
    words = ["a b c d e f g"] * 3 + [" ".join("abcdefg" * 5)]
    for name, texts in {"source": words, "reference": words, "one": words, "two": ["a b c d", *words[1:]]}.items():
        (tmp_path / name).write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    code = main(
        [
            *("bleu_by_length", "--source", str(tmp_path / "source"), "--reference", str(tmp_path / "reference")),
            *("--translations", str(tmp_path / "one"), str(tmp_path / "two")),
            *("--labels", "RNNsearch-50*", "$a_b$ $", "--output", str(tmp_path / "points.csv")),
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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('{"bin_width": 0}', "--settings.bin_width: expected a whole number, 1 or more, not 0"),
        ('{"width": 5}', "--settings: unknown setting width; the nearest is bin_width"),
        ("{", "--settings: not JSON"),
    ],
)
def test_bad_settings(
    csv_file: Path, tmp_path: Path, settings: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = str(tmp_path / "source")
    words = ["bleu_by_length", "--source", text, "--reference", text, "--translations", text, "--labels", "a"]
    assert main([*words, "--settings", settings, "--output", str(tmp_path / "p")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "p").exists()
