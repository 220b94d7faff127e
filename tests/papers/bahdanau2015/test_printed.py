"""The numbers that the paper prints, and files that hold none."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.papers.bahdanau2015.printed import read_printed
from nmt.system.files import UserError

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
        ("RNNsearch-30", "RNNencdec-30", "line 3 repeats"),
    ],
)
def test_a_broken_paper_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = Path(PRINTED).read_text(encoding="utf-8")
    (tmp_path / "printed.tsv").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_printed(str(tmp_path / "printed.tsv"))
