"""The benchmark of the data stages: every stage is measured, and the page says what the figures say."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from bench.data import main
from bench.scale import (
    Row,
    hours,
    memory,
    page,
    paper_words,
    read_rows,
    shares,
    training_corpora,
    work_out,
    write_page,
    write_rows,
)
from bench.text import recombined

ROOT = Path(__file__).parents[2]
MEASURED, PAGE = ROOT / "results" / "bench" / "data.csv", ROOT / "docs" / "scale.md"
STAGES = [
    *("extract", "sacremoses en", "tokenize en", "sacremoses fr", "tokenize fr", "survey", "estimate", "rate"),
    *("select", "shortlist en", "shortlist fr", "coverage", "binarize"),
]


def row(stage: str, pairs: int, seconds: float, peak_mb: float = 100.0) -> Row:
    return Row(stage, pairs, 25 * pairs, seconds, seconds, pairs / seconds, peak_mb, pairs / 1e6, "a processor")


def test_every_stage_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lmplz: Path) -> None:
    monkeypatch.chdir(ROOT)
    output, made = tmp_path / "data.csv", tmp_path / "page.md"
    words = ["--pairs", "150", "--corpora", str(tmp_path), "--folder", str(tmp_path / "made")]
    assert main([*words, "--output", str(output), "--page", str(made)]) == 0
    rows = read_rows(output)
    assert [one.stage for one in rows] == STAGES
    assert {one.pairs for one in rows} == {150}
    assert all(one.words > 150 and one.seconds > 0 and 5 < one.peak_mb < 1500 for one in rows)
    assert made.read_text() == page(rows, training_corpora())
    assert list((tmp_path / "made").iterdir()) == []


def test_a_stage_that_fails_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lmplz: Path
) -> None:
    monkeypatch.chdir(ROOT)
    words = ["--pairs", "0", "--corpora", str(tmp_path), "--folder", str(tmp_path / "made")]
    assert main([*words, "--output", str(tmp_path / "data.csv"), "--page", str(tmp_path / "page.md")]) == 1
    said = capsys.readouterr().err.strip()
    assert said.startswith("bench.data: nmt extract failed: nmt extract: ")
    assert "\n" not in said
    assert not (tmp_path / "data.csv").exists()


def test_recombined_pairs_keep_the_halves_together() -> None:
    real = [("a b c", "A B"), ("d e", "D E F G")]
    made = list(islice(recombined(real, 1), 50))
    assert made == list(islice(recombined(real, 1), 50))
    assert set(made) == {("a b c", "A B"), ("d e", "D E F G"), ("a b e", "A F G"), ("d c", "D E B")}


def test_jobs_go_to_the_cores_longest_first() -> None:
    assert hours([3600, 1800, 1800], 2) == 1
    assert hours([3600, 1800, 1800], 1) == 2
    assert hours([1800] * 3, 2) == 1
    assert hours([7200], 64) == 2


def test_shares_are_those_of_the_workflow_s_jobs() -> None:
    corpora = training_corpora()
    jobs = {"extract": 5, "tokenize": 21, "survey": 21, "rate": 21, "select": 1, "binarize": 1}
    for stage, number in jobs.items():
        assert len(shares(stage, corpora)) == number
        assert sum(shares(stage, corpora)) == pytest.approx(1)


def test_memory_goes_on_growing() -> None:
    assert memory(row("select", 2000, 1, 120), row("select", 1000, 1, 100), 10_000) == pytest.approx(280)
    assert memory(row("select", 2000, 1, 100), row("select", 1000, 1, 120), 10_000) == 100
    assert memory(row("select", 2000, 1, 120), row("select", 1000, 1, 100), 500) == 120


def test_all_of_the_text_is_the_ratio_of_the_words() -> None:
    corpora = training_corpora()
    words, pairs = paper_words(corpora), 1_000_000
    worked = work_out([row("select", pairs, 36.0), row("shortlist en", pairs, 36.0)], [pairs], corpora)
    each = 36 * words / (25 * pairs) / 3600
    assert worked.hours == pytest.approx([2 * each] * 2)
    cells = [cell.strip() for cell in worked.table.split("\n")[2].split("|")]
    assert cells[1:-1] == ["select", "1", *[f"{each:.2f}"] * 3, "100", f"{words / 25e9:.1f}"]


def test_figures_survive_the_file(tmp_path: Path) -> None:
    rows = [row("rate", 1000, 12.5), row("rate", 2000, 25.0)]
    write_rows(tmp_path / "data.csv", rows)
    assert read_rows(tmp_path / "data.csv") == [one._replace(disk_mb=0.0) for one in rows]


def test_the_page_is_made_from_the_measurements(tmp_path: Path) -> None:
    write_page(MEASURED, tmp_path / "scale.md")
    assert (tmp_path / "scale.md").read_text() == PAGE.read_text(), "make bench-data writes the page anew"


def test_time_is_linear_and_memory_flat_in_what_was_measured() -> None:
    rows = read_rows(MEASURED)
    sizes = sorted({one.pairs for one in rows if one.stage == "binarize"})
    of = {(one.stage, one.pairs): one for one in rows}
    for stage in STAGES:
        if not stage.startswith("sacremoses"):
            first, last = of[stage, sizes[0]], of[stage, sizes[-1]]
            assert last.core_seconds / first.core_seconds < 1.2 * last.pairs / first.pairs
            assert last.peak_mb < 1500
    assert all(
        total < 6
        for total in work_out([one for one in rows if "sacre" not in one.stage], sizes, training_corpora()).hours
    )
