"""BLEU by length: edges of the bins, counts and scores and bands of each, and settings that make no bins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nmt.__main__ import main
from nmt.evaluation.bins import Bins
from nmt.evaluation.bleu import corpus_bleu
from nmt.evaluation.bleu_by_length import points


@pytest.mark.parametrize(
    ("words", "expected"),
    [(0, 0), (1, 0), (10, 0), (11, 1), (20, 1), (30, 2), (60, 5), (61, 6), (100_000, 6)],
)
def test_bin_edges(words: int, expected: int) -> None:
    members = Bins(10).members([words])
    assert [indices for *_, indices in members] == [[0] if place == expected else [] for place in range(7)]
    low, high, _ = members[expected]
    assert words == 0 or low < words <= (high or words)


def test_bins_meet_and_the_last_is_open() -> None:
    def bins(width: int) -> list[tuple[int, int | None]]:
        return [(low, high) for low, high, _ in Bins(width).members([])]

    assert bins(10) == [(0, 10), (10, 20), (20, 30), (30, 40), (40, 50), (50, 60), (60, None)]
    assert bins(25) == [(0, 25), (25, 50), (50, 75), (75, None)]
    assert bins(100) == [(0, 100), (100, None)]


def test_small_bins_are_joined_with_the_next_and_the_last_with_those_before() -> None:
    lengths = [4, 6, 12, 12, 13, 22, 27, 70]
    assert Bins(5, fewest=3).members(lengths) == [(0, 15, [0, 1, 2, 3, 4]), (15, None, [5, 6, 7])]
    assert Bins(5, fewest=4).members(lengths) == [(0, None, [*range(8)])]
    assert Bins(50, fewest=1).members(lengths) == [(0, 50, [*range(7)]), (50, None, [7])]
    assert [len(indices) for *_, indices in Bins(10).members(lengths)] == [2, 3, 2, 0, 0, 0, 1]
    assert Bins(10, fewest=2).members([]) == [(0, None, [])]


def test_points_count_and_score_each_bin() -> None:
    sources = ["a"] * 10 + [" ".join("a" * 11)]
    references = ["a b c d"] * 9 + ["a b c e"] + ["a b c d e"]
    translations = ["a b c d"] * 10 + ["x"]
    rows = points("m", sources, references, [translations], Bins(10), 1234, "none")
    bleu = corpus_bleu(translations[:10], references[:10])[0]
    assert rows[0][:5] == ["m", 0, 10, 10, f"{bleu:.2f}"]
    assert rows[1] == ["m", 10, 20, 1, "0.00", "0.00", "0.00"]
    empty = [*((low, low + 10) for low in (20, 30, 40, 50)), (60, None)]
    assert rows[2:] == [["m", *ends, 0, "", "", ""] for ends in empty]


def test_a_band_has_95_percent_of_the_resamples_of_its_bin() -> None:
    """Of 40 equal sentences BLEU-4 depends on how many are right: the fourth root of a product of four shares."""
    references, translations = ["a b c d"] * 40, ["a b c d"] * 30 + ["a b c e"] * 10
    options = ["a b c"] * 40, references, [translations], Bins(10)
    [band, *_] = points("m", *options, 1234, "none")
    lower, bleu, upper = (float(str(band[place])) for place in (5, 4, 6))
    assert lower < bleu < upper

    def score(right: int) -> float:
        return 100 * ((120 + right) / 160 * (80 + right) / 120 * (40 + right) / 80 * right / 40) ** 0.25

    rights = np.random.default_rng(1).binomial(40, 0.75, 100_000)
    expected = [score(int(right)) for right in np.percentile(rights, (2.5, 97.5))]
    assert [lower, upper] == pytest.approx(expected, abs=3.5)
    assert points("m", *options, 1234, "none") == points("m", *options, 1234, "none")
    assert points("m", *options, 1235, "none") != points("m", *options, 1234, "none")
    same = points("other", *options[:2], [translations], Bins(10), 1234, "none")
    assert same[0][1:] == band[1:]  # two systems have the same resamples


def test_a_band_of_seeds_ends_where_bleu_does() -> None:
    """Of one sentence and two seeds whose BLEU are 0 and 100, resamples of the seeds alone lie at -50, 50 and 150."""
    reference = ["a b c d"]
    [row, *_] = points("m", ["a"], reference, [["x"], reference], Bins(10), 1234, "none")
    assert row == ["m", 0, 10, 1, "50.00", "0.00", "100.00"]


@pytest.fixture
def csv_file(tmp_path: Path) -> Path:
    words = ["a b c d e f g"] * 3 + [" ".join("abcdefg" * 5)]
    for name, texts in {"source": words, "reference": words, "one": words, "two": ["a b c d", *words[1:]]}.items():
        (tmp_path / name).write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    code = main(
        [
            *("bleu_by_length", "--source", str(tmp_path / "source"), "--reference", str(tmp_path / "reference")),
            *("--translations", str(tmp_path / "one"), str(tmp_path / "two")),
            *("--labels", "RNNsearch-50*", "$a_b$ $", "--seed", "1", "--output", str(tmp_path / "points.csv")),
        ]
    )
    assert code == 0
    return tmp_path / "points.csv"


def test_csv_columns(csv_file: Path) -> None:
    lines = csv_file.read_text(encoding="utf-8").split("\n")
    assert lines[0] == "model,length_from,length_to,sentences,bleu,lower,upper"
    assert lines[1] == "RNNsearch-50*,0,10,3,100.00,100.00,100.00"
    assert lines[2] == "RNNsearch-50*,10,20,0,,,"
    assert lines[7] == "RNNsearch-50*,60,,0,,,"
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
    words += ["--seed", "1"]
    assert main([*words, "--settings", settings, "--output", str(tmp_path / "p")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "p").exists()
