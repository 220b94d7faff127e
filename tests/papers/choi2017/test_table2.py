"""Table 2: totals of the turns, percentages over the baselines, the paper's numbers, and inputs that do not fit."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from nmt.__main__ import main
from nmt.papers.choi2017.table2 import COLUMNS
from nmt.report.markup import MADE_UP

PRINTED = str(Path(__file__).parents[3] / "nmt/papers/choi2017/printed.tsv")
TIMES = """\
model,batch,turn,sentences,seconds,beam,device
AttY,1,0,4,3.0,12,"CPU, 2 threads"
AttY2D,1,0,4,3.5,12,"CPU, 2 threads"
AttY,4,0,4,1.0,12,"CPU, 2 threads"
AttY2D,4,0,4,2.0,12,"CPU, 2 threads"
AttY2D,1,1,2,1.1,12,"CPU, 2 threads"
AttY,1,1,2,1.0,12,"CPU, 2 threads"
AttY2D,4,1,2,0.9,12,"CPU, 2 threads"
AttY,4,1,2,0.75,12,"CPU, 2 threads"
"""


def table2(folder: Path, times: str = TIMES) -> list[str]:
    (folder / "times.csv").write_text(times)
    words = ["choi2017.table2", "--pair", "En-De", "--times", str(folder / "times.csv"), "--compare", "AttY2D", "AttY"]
    return [*words, f"--output-csv={folder / 'table2.csv'}", f"--output-md={folder / 'table2.md'}", "--printed"]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_totals_and_percentages(tmp_path: Path) -> None:
    assert main([*table2(tmp_path), PRINTED]) == 0
    found = rows(tmp_path / "table2.csv")
    assert tuple(found[0]) == COLUMNS
    assert [tuple(row.values())[1:9] for row in found] == [
        ("AttY", "", "1", "4.00", "", "2546", "", "6"),
        ("AttY2D", "AttY", "1", "4.60", "15.0", "2902", "14.0", "6"),
        ("AttY", "", "4", "1.75", "", "", "", "6"),
        ("AttY2D", "AttY", "4", "2.90", "65.7", "", "", "6"),
    ]
    assert {(row["beam"], row["device"]) for row in found} == {("12", "CPU, 2 threads")}


def test_the_page(tmp_path: Path) -> None:
    assert main([*table2(tmp_path), PRINTED]) == 0
    page = (tmp_path / "table2.md").read_text(encoding="utf-8")
    lines = [" ".join(line.split()) for line in page.split("\n") if line.startswith("|")]
    assert lines[0] == "| Model | En-De, batch 1 | En-De, paper | En-De, batch 4 |"
    assert lines[2] == "| AttY | 4.0 | 2,546 | 1.8 |"
    assert lines[3] == "| AttY2D | 4.6 (+15.0 %) | 2,902 (+14.0 %) | 2.9 (+65.7 %) |"
    assert page.startswith("# Table 2: seconds to translate 6 sentences of the test set\n")
    assert "En-De: 6 sentences at beam 12, CPU, 2 threads" in page
    assert "Each model took turns with its baseline" in page
    assert "(AttY2D against AttY)" in page
    assert "are +4.9 %, not +4.5 %" in page


def test_without_the_papers_numbers(tmp_path: Path) -> None:
    assert main(table2(tmp_path)) == 0
    assert {row["paper_seconds"] for row in rows(tmp_path / "table2.csv")} == {""}
    assert "aper" not in (tmp_path / "table2.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("times", "more", "message"),
    [
        (TIMES.split("\n")[0], (), "no times in it"),
        (TIMES.replace("3.5", "long"), (), "row 3: could not convert string to float: 'long'"),
        (TIMES, ("--compare", "C+AttY", "AttY"), "--compare: C+AttY is not in"),
        ("a,b\n", (), "the columns must be model, batch"),
        (TIMES.replace("AttY,4,", "Other,4,"), (), "no time of AttY at batch 4, with which AttY2D is compared"),
        (TIMES.replace("4,3.0", "4,0"), (), "row 2: not a number from 0.0001 to 1e+09: '0'"),
        (TIMES.replace("4,3.0", "4,-3"), (), "row 2: not a number from 0.0001 to 1e+09: '-3'"),
        (TIMES.replace("4,3.0", "4,1e308"), (), "row 2: not a number from 0.0001 to 1e+09: '1e308'"),
        (TIMES + 'AttY,4,1,2,0.75,12,"CPU, 2 threads"\n', (), "row 10: turn 1 of this model is there twice"),
        (TIMES.replace("AttY2D,1,1,2", "AttY2D,1,1,3"), (), "row 7: 2 sentences, where an earlier row of turn 1 has 3"),
        (TIMES.replace("AttY,1,1,2,1.0", "C,1,1,2,1.0"), (), "AttY at batch 1 has 1 of 2 turns; make the file again"),
        (TIMES.replace("0.75,12", "0.75,6"), (), "row 9: another beam or device than in the first row"),
        (TIMES.replace('0.75,12,"CPU, 2', '0.75,12,"CPU, 4'), (), "row 9: another beam or device than in the first"),
    ],
)
def test_inputs_that_do_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], times: str, more: Any, message: str
) -> None:
    assert main([*table2(tmp_path, times), *more]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_made_up_language_is_named_first(tmp_path: Path) -> None:
    assert main([*table2(tmp_path), PRINTED, "--generated"]) == 0
    assert (tmp_path / "table2.md").read_text(encoding="utf-8").split("\n")[2] == f"**{MADE_UP}**"
