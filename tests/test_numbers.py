"""Every number of a result in a document is in a table that the page names, or in the list `numbers.tsv` with a reason.

A reason that begins with "=" is a calculation from numbers of the page's tables, and is done again.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from tests import demonstration
from tests.numbers import ROOT, is_found, is_near, numbers, tables

PAGES = [ROOT / "README.md", ROOT / "models/README.md", *sorted((ROOT / "results").rglob("README.md"))]
PAGES += sorted((ROOT / "docs").glob("*.md"))
with open(ROOT / "tests/numbers.tsv", newline="") as file:
    LISTED = list(csv.DictReader(file, dialect="excel-tab"))


def listed(page: Path) -> set[str]:
    rows = [row for row in LISTED if ROOT / row["page"] == page]
    return {number for row in rows for number in row["numbers"].split()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_number_is_in_a_table_or_listed(page: Path) -> None:
    files = tables(page)
    found = dict.fromkeys(numbers(page.read_text()))
    assert [one for one in found if one[0] not in listed(page) and not is_found(*one, files)] == []


@pytest.mark.parametrize("row", LISTED, ids=lambda row: f"{row['page']} {row['numbers']}")
def test_a_listed_number_is_printed_and_a_calculation_is_right(row: dict[str, str]) -> None:
    page = ROOT / row["page"]
    assert set(row["numbers"].split()) <= {number for number, _ in numbers(page.read_text())}
    assert len(row["reason"]) > 10
    if row["reason"].startswith("="):
        formula = row["reason"].removeprefix("=")
        assert re.fullmatch(r"[\d.()+*/ -]+", formula)
        assert is_near(row["numbers"], abs(eval(formula)))
        assert all(is_found(number, "", tables(page)) for number in re.findall(r"\d+\.\d+", formula))


def test_what_counts_as_a_number_of_a_result() -> None:
    text = "With Python 3.11 to 3.14 it has 1,234.5 words, +0.62 BLEU and 14 to 29 minutes, 7 % less (Section 4.3).\n"
    text += "\n    --rate 0.5\n\n```\n0.75\n```\n\n"
    text += "`0.25` [a](b-1.5.md) in 2015, 30 words, 2.8.1, 6.6 GB, 80 GB, 348 million.\n"
    expected = [("1234.5", ""), ("0.62", ""), ("14", "minutes"), ("29", "minutes"), ("7", "%"), ("6.6", "GB")]
    assert list(numbers(text)) == expected


def test_a_number_is_looked_up_as_it_is_printed(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("model,measure,value,hours,share\na,train_nll,9.91,,\na,train_nll,-1.05,0.5,0.125\n")
    assert is_found("1.05", "", [table])
    assert is_found("30", "minutes", [table])
    assert is_found("12.5", "%", [table])
    assert not is_found("1.04", "", [table])
    assert not is_found("1", "minutes", [table])
    assert not is_found("9.91", "", [table])  # on the way


def test_a_number_that_no_table_has_is_noticed() -> None:
    files = tables(ROOT / "results/choi2017/open-en-de/README.md")
    assert is_found("11.40", "", files)
    assert not is_found("67.5", "", files)
    assert not is_found("91.73", "", files)


def test_the_demonstrations_tables_are_those_of_its_runs() -> None:
    text = demonstration.PAGE.read_text()
    assert demonstration.with_tables(text) == text
    assert set(re.findall(r"^<!-- (.*) -->$", text, re.MULTILINE)) == demonstration.TABLES.keys()
    assert "| RNNsearch-50 " in text
    assert "| C+AttY2D " in text


def test_the_demonstrations_tables_follow_its_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demonstration, "COPIES", tmp_path)
    (tmp_path / "demo").mkdir()
    text = "Before\n\n<!-- demo/table1.csv -->\n\n| old |\n| --- |\n\nAfter\n\n<!-- demo/figure2.csv -->\n"
    (tmp_path / "demo/table1.csv").write_text("model,all\nRNNsearch-50*,91.14\n")
    rows = [("a", "0", "10", "1.00"), ("a", "10", "", "2.00"), ("b", "0", "10", "3.00"), ("b", "10", "", "4.00")]
    lines = ["model,length_from,length_to,bleu", *(",".join(row) for row in rows)]
    (tmp_path / "demo/figure2.csv").write_text("\n".join(lines) + "\n")
    written = demonstration.with_tables(text)
    assert "old" not in written
    assert "| RNNsearch-50\\* | 91.14 |\n\nAfter\n" in written
    assert [re.sub(" +", " ", line) for line in written.split("\n")[-4:-1]] == [
        *("| :---------- | ---: | ---: |", "| 1 to 10 | 1.00 | 3.00 |", "| 11 and more | 2.00 | 4.00 |"),
    ]
    assert demonstration.with_tables(written) == written
