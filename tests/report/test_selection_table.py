"""nmt.report.selection_table and .ratings: the table beside the paper's words, the figure from its points."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.corpora.select import AUDIT, DISTRIBUTION

ROOT = Path(__file__).resolve().parents[2]


def audit(folder: Path, *corpora: str) -> str:
    rows = [AUDIT, *([name, *("7" for _ in AUDIT[1:])] for name in (*corpora, "total"))]
    (folder / "audit.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    return str(folder / "audit.csv")


def table(folder: Path, registry: str, *corpora: str) -> dict[str, dict[str, str]]:
    words = ["--audit", audit(folder, *corpora), "--registry", str(ROOT / registry)]
    assert main(["selection_table", *words, "--output", str(folder / "selection.csv")]) == 0
    with open(folder / "selection.csv", newline="") as file:
        return {row["corpus"]: row for row in csv.DictReader(file)}


def test_the_papers_words_stand_beside_ours(tmp_path: Path) -> None:
    rows = table(tmp_path, "data/corpora.tsv", "europarl-v7", "giga-fren")
    beside = {name: (row["target_words"], row["paper_words"], row["paper_words_kept"]) for name, row in rows.items()}
    assert beside == {
        "europarl-v7": ("7", "61000000", ""),
        "giga-fren": ("7", "780000000", ""),
        "total": ("7", "850000000", "348000000"),
    }


def test_other_corpora_have_nothing_beside_them(tmp_path: Path) -> None:
    rows = table(tmp_path, "data/open.tsv", "eurlex", "tatoeba")
    assert {(row["paper_words"], row["paper_words_kept"]) for row in rows.values()} == {("", "")}


def points(folder: Path, *rows: str) -> str:
    (folder / "ratings.csv").write_text("\n".join([",".join(DISTRIBUTION), *rows]) + "\n")
    return str(folder / "ratings.csv")


ROWS = ["a$b$c,,-10,3,3,0.3", "a$b$c,0.25,0.5,9,4,0.3", "a$b$c,15,,1,0,0.3", "whole,1,1.25,5,5,"]


@pytest.mark.parametrize("rows", [ROWS, ROWS[:1], ROWS[-1:]])
def test_the_figure_is_the_same_bytes_again(tmp_path: Path, rows: list[str]) -> None:
    drawn = []
    for _ in range(2):
        outputs = [str(tmp_path / f"ratings.{ending}") for ending in ("pdf", "svg", "png")]
        assert main(["ratings", "--points", points(tmp_path, *rows), "--outputs", *outputs]) == 0
        drawn.append([Path(output).read_bytes() for output in outputs])
    assert drawn[0] == drawn[1]
    svg = drawn[0][1].decode()
    assert svg.count("stroke-dasharray") == (0 if rows == ROWS[-1:] else 1)  # the cut


@pytest.mark.parametrize(("rows", "said"), [([], "no points"), (["a,x,1,2,3,"], "row 2"), (["a,1"], "row 2")])
def test_points_that_are_none(tmp_path: Path, rows: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ratings", "--points", points(tmp_path, *rows), "--outputs", str(tmp_path / "r.png")]) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "r.png").exists()


def test_the_shares_that_the_open_results_quote_are_those_of_the_audits() -> None:
    folder = ROOT / "results" / "open"
    said = " ".join((folder / "README.md").read_text().split())

    def shares(name: str, *corpora: str) -> list[str]:
        with open(folder / name, newline="") as file:
            rows = {row["corpus"]: row for row in csv.DictReader(file)}
        words = [(int(rows[one]["source_words_kept"]), int(rows[one]["source_words"])) for one in corpora]
        return [f"{100 * kept / whole:.0f} %" for kept, whole in words]

    laws = shares("selection-third.csv", "laws-lois", "eurlex")
    assert "{} and {} of their English words are in the selected third".format(*laws) in said
    manuals = ("django-docs", "python-docs", "debian-po", "libreoffice", "webwml")
    kept = shares("selection-third.csv", *manuals)
    assert (
        "Django's documentation to {}, Python's to {}, Debian's translations to {}, LibreOffice's to {}, Debian's web "
        "site to {}."
    ).format(*kept) in said
    assert f"({', '.join(shares('selection.csv', *manuals))})" in said
    assert "keeps {} of its words".format(*shares("selection-hansard.csv", "hansard36")) in said
