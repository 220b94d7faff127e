"""The paper's numbers: each as its tables print it, and files that are no such table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nmt.papers.choi2017.printed import COLUMNS, printed_number, read_printed
from nmt.papers.choi2017.table1 import SLIPS
from nmt.papers.choi2017.table2 import PAPER
from nmt.system.errors import UserError

PRINTED = str(Path(__file__).parents[3] / "nmt/papers/choi2017/printed.tsv")

# The tables of the paper, cell by cell in its own notation: two beam widths of En-De, then of En-Fi.
TABLE_1 = """\
Baseline    17.57 (17.62) 20.78 (19.72)  6.07 (7.18)  7.83 (8.35)
AttY        19.15 (18.82) 21.41 (20.60)  7.38 (8.02)  8.91 (9.20)
AttY2D      20.49 (19.42) 22.50 (20.83)  8.33 (8.75)  9.32 (9.41)
C           19.13 (18.81) 22.13 (21.01)  7.47 (7.93)  8.84 (9.18)
C+AttY      20.96 (20.06) 23.25 (21.35)  8.67 (9.18) 10.01 (9.95)
C+AttY2D    22.37 (20.56) 23.74 (22.13)  9.02 (9.63) 10.20 (10.90)
"""
TABLE_2 = """\
AttY        2,546          1,631
AttY2D      2,902 (+14.0%) 1,786 (+9.5%)
C+AttY      2,758          1,626
C+AttY2D    2,894 (+4.5%)  1,718 (+5.7%)
"""
LINE = "\t".join(COLUMNS) + "\nEn-De\tAttY\t17.57\t\t\t\t{}\t{}\t\n"


def bleu(pair: str, model: str, beam: int) -> float:
    return float(printed_number(read_printed(PRINTED), pair, model, f"test_{beam}"))


def test_the_48_numbers_of_table_1() -> None:
    printed = read_printed(PRINTED)
    assert len(printed) == 12
    seen = 0
    for line in TABLE_1.splitlines():
        model, *numbers = re.findall(r"[^\s()]+", line)
        found = [
            printed_number(printed, pair, model, f"{of}_{beam}")
            for pair in ("En-De", "En-Fi")
            for beam in (1, 12)
            for of in ("test", "development")
        ]
        assert found == numbers, model
        seen += len(found)
    assert seen == 48


def test_the_times_of_table_2() -> None:
    printed = read_printed(PRINTED)
    rows = {line.split()[0]: re.findall(r"(\d,\d+)(?: \(\+([\d.]+)%\))?", line) for line in TABLE_2.splitlines()}
    for place, pair in enumerate(("En-De", "En-Fi")):
        for model in (line.split()[0] for line in TABLE_1.splitlines()):
            seconds, more = rows[model][place] if model in rows else ("", "")
            assert printed_number(printed, pair, model, "seconds") == seconds.replace(",", "")
            assert printed_number(printed, pair, model, "more_seconds") == more
    sizes = {model: row["more_parameters"] for (_, model), row in printed.items() if row["more_parameters"]}
    assert sizes == {"AttY2D": "3.5", "C+AttY2D": "3.4"}


def test_what_is_said_of_the_papers_slips_follows_from_its_tables() -> None:
    pairs = [("AttY2D", "AttY"), ("C+AttY2D", "C+AttY")]
    finest = {
        beam: max(
            bleu(pair, model, beam) - bleu(pair, other, beam) for pair in ("En-De", "En-Fi") for model, other in pairs
        )
        for beam in (1, 12)
    }
    assert round(finest[1], 1) == 1.4
    assert f"+{finest[12]:.2f} at most at beam 12" in SLIPS
    assert round(bleu("En-De", "C+AttY", 1) - bleu("En-De", "AttY", 1), 1) == 1.8
    alone = max(bleu(pair, "C", beam) - bleu(pair, "Baseline", beam) for pair in ("En-De", "En-Fi") for beam in (1, 12))
    assert f"baseline is +{alone:.2f} at most" in SLIPS
    assert f"2,894 seconds against 2,758 are +{100 * (2894 / 2758 - 1):.1f} %, not +4.5 %" in PAPER


def test_what_the_paper_does_not_print() -> None:
    printed = read_printed(PRINTED)
    assert printed_number(printed, "En-Fr", "AttY", "test_1") == ""
    assert printed_number(printed, "En-De", "AttY", "test_5") == ""
    assert read_printed(None) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the columns must be pair, model"),
        ("pair\tmodel\n", "the columns must be pair, model"),
        ("\t".join(COLUMNS) + "\nEn-De\tAttY\n", "row 2 has 2 cells, not 9"),
        (LINE.format("abc", ""), "row 2: seconds: could not convert string to float: 'abc'; correct the file"),
        (LINE.format("2546", "nan"), "row 2: more_seconds: not a finite number: 'nan'"),
        (LINE.format("inf", "4.5"), "row 2: seconds: not a finite number: 'inf'"),
        (LINE.format("-1", "4.5"), r"row 2: seconds: not a number from 0 to 1e\+09: '-1'"),
        (LINE.format("1", "-101"), "row 2: more_seconds: not a number -100 or more: '-101'"),
        (LINE.format("1", "").replace("17.57", "175.7"), "row 2: test_1: not a number from 0 to 100: '175.7'"),
    ],
)
def test_files_that_are_no_such_table(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "printed.tsv"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        read_printed(str(path))
