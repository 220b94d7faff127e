"""The benchmarks of the data stages: every stage is measured, and the page agrees with the measurements."""

from __future__ import annotations

import csv
import re
import shutil
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from bench import data as bench_data
from bench import memory as bench_memory
from bench.data import main
from bench.scale import (
    COSTS,
    Peak,
    Row,
    hours,
    memory,
    paper_words,
    read_rows,
    shares,
    training_corpora,
    work_out,
    write_rows,
    write_tables,
)
from bench.text import recombined
from nmt.system.errors import UserError

ROOT = Path(__file__).parents[2]
MEASURED, MEMORY = ROOT / "results" / "bench" / "data.csv", ROOT / "results" / "bench" / "memory.csv"
PAGE = ROOT / "docs" / "scale.md"


def page(folder: Path) -> Path:
    """A copy of the page in `folder`."""
    return Path(shutil.copy(PAGE, folder))


STAGES = [
    *("extract", "sacremoses en", "tokenize en", "sacremoses fr", "tokenize fr", "clean", "train_lm", "score_pairs"),
    *("select", "shortlist en", "shortlist fr", "coverage", "binarize"),
]
WHOLE = ["train_lm", "select", "binarize"]  # stages that keep something for every pair


def row(stage: str, pairs: int, seconds: float, peak_mb: float = 100.0) -> Row:
    return Row(
        stage, pairs, 25 * pairs, seconds, seconds, pairs / seconds, peak_mb, pairs / 1e6, "a processor", "some text"
    )


@pytest.mark.long
def test_every_stage_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lmplz: Path
) -> None:
    monkeypatch.chdir(ROOT)
    output, made, costs = tmp_path / "data.csv", page(tmp_path), tmp_path / "costs.csv"
    words = ["--pairs", "150", "150", "--corpora", str(tmp_path / "none"), "--folder", str(tmp_path / "made")]
    main([*words, "--output", str(output), "--page", str(made), "--costs", str(costs)])
    rows = read_rows(output, Row)
    assert [one.stage for one in rows] == STAGES  # once, also of a size that is named twice
    assert {one.pairs for one in rows} == {150}
    assert all(one.words > 150 and one.seconds > 0 and 5 < one.peak_mb < 1500 for one in rows)
    assert {one.text for one in rows} == {"sentences of the built-in language"}
    assert f"warning: {tmp_path / 'none'}: none of the open corpora is there;" in capsys.readouterr().err
    assert f"{rows[0].seconds:.1f}" in next(one for one in made.read_text().split("\n") if one.startswith("| extract"))
    assert costs.read_text().startswith("stage,jobs,core_hours,")
    assert list((tmp_path / "made").iterdir()) == []


def small_registry(folder: Path) -> Path:
    """The paper's registry, with a thousandth of the pairs and words."""
    path = folder / "corpora.tsv"
    with open(ROOT / "data" / "corpora.tsv", newline="") as file:
        header, *lines = csv.reader(file, delimiter="\t")
    for line in lines:
        for column in ("pairs", "words"):
            cell = header.index(column)
            line[cell] = line[cell] and str(int(line[cell]) // 1000)
    path.write_text("".join("\t".join(line) + "\n" for line in [header, *lines]))
    return path


def test_memory_is_measured_on_as_many_pairs_as_the_registry_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lmplz: Path
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(bench_memory, "REGISTRY", small_registry(tmp_path))
    output, made, costs = tmp_path / "memory.csv", page(tmp_path), tmp_path / "costs.csv"
    words = ["--folder", str(tmp_path / "made"), "--output", str(output)]
    bench_memory.main([*words, "--page", str(made), "--costs", str(costs)])
    peaks = read_rows(output, Peak)
    assert [(peak.stage, peak.pairs) for peak in peaks] == [(stage, 40_840) for stage in WHOLE]
    assert all(5 < peak.peak_mb < 1500 for peak in peaks)
    assert costs.read_text() != COSTS.read_text()
    assert made.read_text() != PAGE.read_text()
    assert list((tmp_path / "made").iterdir()) == []


def test_the_artificial_text_is_as_large_as_the_real_one() -> None:
    corpora = training_corpora()
    sizes = [size for corpus in corpora for size in bench_memory.shard_sizes(corpus.pairs or 0)]
    assert (len(sizes), sum(sizes)) == (21, sum(corpus.pairs or 0 for corpus in corpora))
    lengths = np.array([line.count(b" ") + 1 for line in bench_memory.sentences(33)], np.uint32)
    assert lengths.mean() == pytest.approx(paper_words(corpora) / sum(sizes), rel=0.02)
    pieces = np.concatenate([*bench_memory.records(lengths, 0, 25_000), *bench_memory.records(lengths, 25_000, 9)])
    assert len(np.unique(pieces["digest"])) == 25_009
    assert pieces["source_words"][10_000] == pieces["target_words"][25_000] == lengths[0]
    assert sum(map(len, bench_memory.ratings(0, 25_000))) == 25_000


def test_a_stage_that_fails_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lmplz: Path
) -> None:
    monkeypatch.chdir(ROOT)
    (tmp_path / "page.md").touch()
    words = ["--pairs", "0", "--corpora", str(tmp_path / "none"), "--folder", str(tmp_path / "made")]
    with pytest.raises(SystemExit, match=r"^bench\.data: nmt extract failed: nmt extract: .*$"):
        main([*words, "--output", str(tmp_path / "data.csv"), "--page", str(tmp_path / "page.md")])
    [_] = capsys.readouterr().err.strip().split("\n")  # the warning about the built-in language
    assert not (tmp_path / "data.csv").exists()


def test_a_folder_that_cannot_be_made_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_data, "works", lambda program: True)
    with (
        pytest.raises(UserError, match=r"--folder /proc/x: .*; name another one"),
        bench_data.workplace(Path("/proc/x")),
    ):
        pass


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


def test_shares_are_those_of_the_jobs_of_the_workflow() -> None:
    corpora = training_corpora()
    jobs = {"extract": 5, "tokenize": 21, "clean": 21, "score_pairs": 21, "select": 1, "binarize": 1}
    for stage, number in jobs.items():
        assert len(shares(stage, corpora)) == number
        assert sum(shares(stage, corpora)) == pytest.approx(1)


def test_memory_is_extrapolated() -> None:
    assert memory(row("select", 2000, 1, 120), row("select", 1000, 1, 100), 10_000) == pytest.approx(280)
    assert memory(row("select", 2000, 1, 100), row("select", 1000, 1, 120), 10_000) == 100
    assert memory(row("select", 2000, 1, 120), row("select", 1000, 1, 100), 500) == 120
    assert memory(row("select", 2000, 1, 120), row("select", 1000, 1, 100), 10_000, 2) == pytest.approx(440)


def test_memory_for_the_whole_text_is_measured_or_a_straight_line() -> None:
    corpora = training_corpora()
    pairs = sum(corpus.pairs or 0 for corpus in corpora)
    sizes = [1_000_000, 2_000_000, 4_000_000]

    def peak(stage: str, *sizes_mb: float, peaks: tuple[Peak, ...] = ()) -> float:
        rows = [row(stage, size, 1.0, mb) for size, mb in zip(sizes, sizes_mb, strict=True)]
        return work_out(rows, peaks, sizes, corpora).peak

    assert peak("select", 100, 110, 120, peaks=(Peak("select", pairs, 777, "a processor"),)) == 777
    # a line through the two smallest texts, whatever the largest had
    assert peak("shortlist en", 100, 110, 115) == pytest.approx(110 + 10 * (pairs / 1e6 - 2))
    assert peak("coverage", 100, 110, 115) == pytest.approx(110 + 20 * (pairs / 1e6 - 2))
    assert peak("extract", 100, 110, 120) == pytest.approx(120 + 5 * (780 / 1357.5 * pairs / 1e6 - 4))


def test_the_whole_text_is_extrapolated_by_the_ratio_of_the_words() -> None:
    corpora = training_corpora()
    words, pairs = paper_words(corpora), 1_000_000
    worked = work_out([row("select", pairs, 36.0), row("shortlist en", pairs, 36.0)], [], [pairs], corpora)
    each = 36 * words / (25 * pairs) / 3600
    assert worked.hours == pytest.approx([2 * each] * 2)
    assert worked.rows[0] == ["select", "1", *[f"{each:.2f}"] * 3, "100", f"{words / 25e9:.1f}"]


def test_measurements_survive_the_file(tmp_path: Path) -> None:
    rows = [row("score_pairs", 1000, 12.5), row("score_pairs", 2000, 25.0)]
    write_rows(tmp_path / "data.csv", rows)
    assert read_rows(tmp_path / "data.csv", Row) == [one._replace(disk_mb=0.0) for one in rows]


def test_the_tables_are_made_from_the_measurements(tmp_path: Path) -> None:
    made = page(tmp_path)
    made.write_text(re.sub(r"\d", "0", PAGE.read_text()))
    write_tables(MEASURED, MEMORY, tmp_path / "scale.csv", made)
    assert (tmp_path / "scale.csv").read_text() == COSTS.read_text(), "`make bench-data` writes the table again"
    lines = [
        [line for line in text.split("\n") if line.startswith("|")] for text in (made.read_text(), PAGE.read_text())
    ]
    assert lines[0] == lines[1], "`make bench-data` renews the tables of the page"


def test_measured_time_is_linear_and_memory_is_flat() -> None:
    rows = read_rows(MEASURED, Row)
    sizes = sorted({one.pairs for one in rows if one.stage == "binarize"})
    of = {(one.stage, one.pairs): one for one in rows}
    for stage in STAGES:
        if not stage.startswith("sacremoses"):
            first, last = of[stage, sizes[0]], of[stage, sizes[-1]]
            assert last.core_seconds / first.core_seconds < 1.2 * last.pairs / first.pairs
            assert last.peak_mb < 1500


def test_the_whole_text_takes_less_than_six_hours_and_1500_mb_per_process() -> None:
    rows = [one for one in read_rows(MEASURED, Row) if not one.stage.startswith("sacremoses")]
    peaks, corpora = read_rows(MEMORY, Peak), training_corpora()
    assert [(peak.stage, peak.pairs) for peak in peaks] == [
        (stage, sum(corpus.pairs or 0 for corpus in corpora)) for stage in WHOLE
    ]
    worked = work_out(rows, peaks, sorted({one.pairs for one in rows}), corpora)
    assert max(worked.hours) < 6
    assert worked.peak < 1500
