"""Significance: clear and no differences, both parts, the seed, and what does not fit."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.evaluation.bootstrap import holm
from nmt.report.markup import MADE_UP
from nmt.report.page import show_table
from nmt.report.significance import COLUMNS, markdown, with_holm

RESULTS = Path(__file__).parents[2] / "results"
SENTENCES = [f"the {name} sees a house number {name} ." for name in "abcdefghijklmnopqrstuvwxyz"]
FILES = {
    "source": SENTENCES,
    "reference": SENTENCES,
    "good": SENTENCES,
    "bad": [line.replace("house", "x") for line in SENTENCES],
}
# "a", "b", "c" and "x" are known, as names too; sentences of other names have unknown words
SHORTLIST = ["shortlist", "--settings", '{"size": 20}']
COMMON = ["the", "sees", "a", "house", "number", ".", "x"]


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    for name, lines in FILES.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    known = [*COMMON, "b", "c"]
    (tmp_path / "text").write_text(" ".join(known) + "\n")
    shortlist = str(tmp_path / "shortlist")
    assert main([*SHORTLIST, "--input", str(tmp_path / "text"), "--output", shortlist]) == 0
    systems = [str(tmp_path / name) for name in ("good", "bad", "good")]
    given = ["significance", "--source", str(tmp_path / "source"), "--reference", str(tmp_path / "reference")]
    given += ["--shortlists", shortlist, shortlist, "--translations", *systems, "--translations-no-unk", *systems]
    given += ["--labels", "good", "bad", "alike", "--pair", "bad", "good", "--pair", "alike", "good"]
    return [*given, "--output-csv", str(tmp_path / "out.csv"), "--output-md", str(tmp_path / "out.md"), "--seed"]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_differences(words: list[str], tmp_path: Path) -> None:
    assert main([*words, "7"]) == 0
    found = rows(tmp_path / "out.csv")
    assert [(row["part"], row["system"]) for row in found] == [
        ("all", "bad"),
        ("all", "alike"),
        ("no_unk", "bad"),
        ("no_unk", "alike"),
    ]
    assert [row["sentences"] for row in found] == ["26", "26", "4", "4"]
    assert float(found[0]["difference"]) == pytest.approx(
        float(found[0]["bleu"]) - float(found[0]["baseline_bleu"]), abs=0.02
    )
    assert float(found[0]["difference"]) < -10
    assert float(found[0]["p_value"]) < 0.05
    assert float(found[0]["lower"]) <= float(found[0]["difference"]) <= float(found[0]["upper"]) < -10
    alike = [found[1][name] for name in ("difference", "lower", "upper", "p_value", "p_holm")]
    assert alike == ["0.00", "0.00", "0.00", "1.0000", "1.0000"]
    assert [float(row["p_holm"]) for row in found] == holm([float(row["p_value"]) for row in found])
    assert found[0]["p_holm"] == "0.0040"
    assert "seed:7" in found[0]["signature"]
    page = (tmp_path / "out.md").read_text()
    assert f"1000 resamples can show no p below {found[0]['p_value']}:" in page
    assert "for all 4 comparisons of the table" in page
    assert "**-" in page
    assert f"| {found[0]['lower']} to {found[0]['upper']} |" in " ".join(page.split())
    assert "| +0.00 to +0.00 | 1.0000 | 1.0000 |" in " ".join(page.split())
    assert "**+0.00" not in page
    before = (tmp_path / "out.csv").read_bytes()
    assert main([*words, "7"]) == 0
    assert (tmp_path / "out.csv").read_bytes() == before


def test_further_pairs_are_folded(words: list[str], tmp_path: Path) -> None:
    assert main([*words, "7"]) == 0
    whole = rows(tmp_path / "out.csv")
    words[words.index("--pair", words.index("--pair") + 1)] = "--folded"
    assert main([*words, "7", "--generated"]) == 0
    assert rows(tmp_path / "out.csv") == whole
    lines = (tmp_path / "out.md").read_text().split("\n")
    assert lines[2] == f"**{MADE_UP}**"
    fold = lines.index("<details>")
    systems = [(place > fold, line.split()[1]) for place, line in enumerate(lines) if "good" in line]
    assert systems == [(False, "bad")] * 2 + [(True, "alike")] * 2
    assert lines.index("</details>") > fold + 4
    shown = show_table(str(tmp_path / "out.md"))
    assert "<details><summary>Further comparisons</summary>" in shown
    assert shown.count("<table>") == 2
    assert "&lt;" not in shown.replace("p (Holm) &lt; 0.05", "")


def test_a_part_without_sentences(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "text").write_text("nothing\n")
    shortlist = str(tmp_path / "shortlist")
    assert main([*SHORTLIST, "--input", str(tmp_path / "text"), "--output", shortlist]) == 0
    assert main([*words, "7"]) == 0
    empty = rows(tmp_path / "out.csv")[3]
    assert [empty[name] for name in ("difference", "lower", "upper", "p_value")] == [""] * 4
    assert "– |" in (tmp_path / "out.md").read_text()


def test_without_translations_that_avoid_unknown_words(words: list[str], tmp_path: Path) -> None:
    assert main([*words, "7"]) == 0
    whole = rows(tmp_path / "out.csv")
    place = words.index("--translations-no-unk") + 1
    assert main([*words[:place], *words[place + 3 :], "7"]) == 0
    assert rows(tmp_path / "out.csv") == with_holm([row for row in whole if row["part"] == "all"])
    page = (tmp_path / "out.md").read_text()
    assert "(All: 26)" in page
    assert "No UNK" not in page


def test_greedy_translations(words: list[str], tmp_path: Path) -> None:
    place = words.index("--translations-no-unk")
    good, bad = str(tmp_path / "good"), str(tmp_path / "bad")
    words[place : place + 4] = ["--translations-greedy", bad, good, good]
    assert main([*words, "7"]) == 0
    found = rows(tmp_path / "out.csv")
    assert [(row["part"], row["system"], row["sentences"]) for row in found] == [
        ("all", "bad", "26"),
        ("all", "alike", "26"),
        ("greedy", "bad", "26"),
        ("greedy", "alike", "26"),
    ]
    assert float(found[0]["difference"]) == pytest.approx(-float(found[2]["difference"]))
    assert found[2]["bleu"] == found[3]["bleu"] == "100.00"
    page = (tmp_path / "out.md").read_text()
    assert "All (beam 1)" in page
    assert "(All: 26, All (beam 1): 26)" in page


@pytest.mark.parametrize(("p_values", "bold"), [(["0.0200"], True), (["0.0200", "0.0300", "0.0400"], False)])
def test_a_difference_is_bold_where_it_holds_among_all_comparisons(p_values: list[str], bold: bool) -> None:
    row = dict.fromkeys(COLUMNS, "1") | {"part": "all", "difference": "2.00"}
    page = markdown(with_holm([row | {"p_value": p_value} for p_value in p_values]), [], 1)
    assert any("**+2.00**" in line for line in page) == bold


COMMITTED = [*sorted(RESULTS.rglob("significance.csv")), *sorted(RESULTS.rglob("bpe-*.csv"))]


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: str(path.relative_to(RESULTS)))
def test_the_committed_tables_are_corrected(path: Path) -> None:
    table = rows(path)
    assert with_holm(table) == table
    page = path.with_suffix(".md").read_text()
    assert f"for all {len(table)} comparisons of the table" in page
    for row in table:
        assert f" {row['p_value']} | {row['p_holm'].rjust(8)} |" in page


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--pair", "good", "other"], "--pair: other is not among --labels"),
        (["--folded", "other", "good"], "--folded: other is not among --labels"),
        (["--pair", "good", "good"], "good good: name a pair of two systems, and each pair once"),
        (["--folded", "alike", "good"], "alike good: name a pair of two systems, and each pair once"),
        (["--resamples", "0"], "--resamples 0: must be 1 or more"),
        (["--translations-greedy", "one"], "3 labels for 1 files of --translations-greedy"),
    ],
)
def test_bad_options(
    words: list[str], more: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "7", *more]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()
