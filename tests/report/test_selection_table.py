"""The table of data selection, and the words that a paper states beside it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.corpora.registry import read_registry
from nmt.corpora.select import AUDIT
from nmt.report.selection_table import read_printed

ROOT = Path(__file__).resolve().parents[2]
PRINTED = ROOT / "nmt/papers/bahdanau2015/printed_words.tsv"


def audit(folder: Path, *corpora: str) -> str:
    rows = [AUDIT, *([name, *("7" for _ in AUDIT[1:])] for name in (*corpora, "total"))]
    (folder / "audit.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    return str(folder / "audit.csv")


def table(folder: Path, *corpora: str, printed: bool) -> dict[str, dict[str, str]]:
    words = ["--audit", audit(folder, *corpora), "--output", str(folder / "selection.csv")]
    words += ["--printed", str(PRINTED)] if printed else ["--printed"]
    assert main(["selection_table", *words]) == 0
    with open(folder / "selection.csv", newline="") as file:
        return {row["corpus"]: row for row in csv.DictReader(file)}


def test_an_audit_that_was_cut_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(audit(tmp_path, "one"))
    path.write_text(path.read_text().rpartition("total")[0])
    assert main(["selection_table", "--audit", str(path), "--output", str(tmp_path / "selection.csv")]) == 1
    assert capsys.readouterr().err.endswith("audit.csv: ends without the row total; make the file again\n")


def test_the_papers_words_stand_beside_ours(tmp_path: Path) -> None:
    rows = table(tmp_path, "europarl-v7", "giga-fren", printed=True)
    beside = {name: (row["target_words"], row["paper_words"], row["paper_words_kept"]) for name, row in rows.items()}
    assert beside == {
        "europarl-v7": ("7", "61000000", ""),
        "giga-fren": ("7", "780000000", ""),
        "total": ("7", "850000000", "348000000"),
    }


def test_the_papers_words_are_those_of_the_registry() -> None:
    registry = read_registry(ROOT / "data/corpora.tsv")
    words = {name: str(corpus.words) for name, corpus in registry.items() if corpus.words is not None}
    assert {name: before for name, (before, _) in read_printed(str(PRINTED)).items() if name != "total"} == words


def test_other_corpora_have_nothing_beside_them(tmp_path: Path) -> None:
    rows = table(tmp_path, "eurlex", "tatoeba", printed=True)
    assert {(row["paper_words"], row["paper_words_kept"]) for row in rows.values()} == {("", "")}


def test_without_a_file_of_the_papers_words_there_are_no_columns_for_them(tmp_path: Path) -> None:
    rows = table(tmp_path, "europarl-v7", printed=False)
    assert list(rows["total"]) == list(AUDIT)


def test_a_file_that_holds_no_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "words.tsv").write_text("corpus\twords\n")
    words = ["--audit", audit(tmp_path, "a"), "--output", str(tmp_path / "selection.csv")]
    assert main(["selection_table", *words, "--printed", str(tmp_path / "words.tsv")]) == 1
    assert "words.tsv: the columns must be corpus, words, words_kept; correct the file" in capsys.readouterr().err


def test_the_shares_that_the_open_results_quote_are_those_of_the_audits() -> None:
    folder = ROOT / "results" / "open"
    said = " ".join((folder / "README.md").read_text().split())

    def shares(name: str, *corpora: str) -> list[str]:
        with open(folder / name, newline="") as file:
            rows = {row["corpus"]: row for row in csv.DictReader(file)}
        words = [(int(rows[one]["source_words_kept"]), int(rows[one]["source_words"])) for one in corpora]
        return [f"{100 * kept / whole:.0f} %" for kept, whole in words]

    laws = shares("selection-third.csv", "laws-lois", "eurlex")
    assert "it keeps only {} and {} of their English words".format(*laws) in said
    manuals = ("django-docs", "python-docs", "debian-po", "libreoffice", "webwml")
    kept = shares("selection-third.csv", *manuals)
    assert (
        "{} of Django's documentation, {} of Python's, {} of Debian's translations, {} of LibreOffice's, and {} of "
        "Debian's web site."
    ).format(*kept) in said
    assert f"({', '.join(shares('selection.csv', *manuals))})" in said
    assert "keeps {} of hansard36's words".format(*shares("selection-hansard.csv", "hansard36")) in said


@pytest.mark.parametrize("cell", ["nan", "-5", "", "abc", "9" * 400])
def test_a_damaged_count_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], cell: str) -> None:
    path = Path(audit(tmp_path, "eurlex"))
    path.write_text(path.read_text().replace("eurlex,7,7", f"eurlex,7,{cell}"))
    assert main(["selection_table", "--audit", str(path), "--printed", "--output", str(tmp_path / "out.csv")]) == 1
    error = capsys.readouterr().err
    assert "audit.csv: row 2: not a whole number" in error
    assert error.count("\n") == 1
