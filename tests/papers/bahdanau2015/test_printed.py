"""The numbers that the paper prints, and files that hold none."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.papers.bahdanau2015 import printed as module
from nmt.papers.bahdanau2015.printed import fingerprint, printed_sentences, read_printed
from nmt.system.errors import UserError

PRINTED = str(Path(__file__).parents[3] / "nmt/papers/bahdanau2015/printed.tsv")


def test_the_papers_numbers() -> None:
    paper = read_printed(PRINTED)
    assert list(paper) == [*("RNNencdec-30", "RNNsearch-30", "RNNencdec-50", "RNNsearch-50", "RNNsearch-50*", "Moses")]
    assert [row["all"] for row in paper.values()] == [13.93, 21.50, 17.82, 26.75, 28.45, 33.30]
    assert [row["no_unk"] for row in paper.values()] == [24.19, 31.44, 26.71, 34.16, 36.15, 35.63]
    assert paper["RNNsearch-30"]["updates"] == 471000
    assert paper["Moses"]["updates"] is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("label\t", "name\t", "the columns must be label"),
        ("13.93\t", "", "row 2 has 8 cells"),
        ("13.93", "many", "line 2 is not a row of numbers"),
        ("13.93", "1393", r"line 2 is not a row of numbers \(not a number from 0 to 100: '1393'\)"),
        ("6.4", "nan", "line 2 is not a row of numbers"),
        ("RNNsearch-30", "RNNencdec-30", "line 3 repeats"),
    ],
)
def test_a_broken_paper_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = Path(PRINTED).read_text(encoding="utf-8")
    (tmp_path / "printed.tsv").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_printed(str(tmp_path / "printed.tsv"))


def test_sentences_are_known_by_line_and_letters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sentences = {"Table 3": ((2, fingerprint('He said "No"')), (9, "0")), "Figure 3": ((1, fingerprint("X")),)}
    monkeypatch.setattr(module, "PRINTED", {"set": sentences})
    assert printed_sentences("set", "Table 3", ["x", "He said “no”."]) == [1]
    assert "line 9 of set is not the paper's sentence; Table 3 leaves it out" in capsys.readouterr().err
    assert printed_sentences("set", "Figure 3", ["x", "He said “no”."]) == [0]
    assert printed_sentences("other", "Table 3", ["x", "He said “no”."]) == []
    assert printed_sentences("set", "Table 3", ["x", "y"]) == []


def test_the_lines_of_the_paper() -> None:
    lines = {place: [line for line, _ in found] for place, found in module.PRINTED["newstest2014"].items()}
    assert lines == {"Table 3": [939, 120, 2443], "Figure 3": [2409, 1884, 2716]}
