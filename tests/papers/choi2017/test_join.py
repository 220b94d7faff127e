"""The tables of both pairs of languages in one, as the paper has them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from nmt.__main__ import main
from tests.papers.choi2017.test_table1 import rows, table1
from tests.papers.choi2017.test_table2 import table2


def join(folder: Path, *tables: str) -> int:
    outputs = [f"--output-csv={folder / 'both.csv'}", f"--output-md={folder / 'both.md'}"]
    return main(["choi2017.join", "--tables", *(str(folder / table) for table in tables), *outputs])


def lines(folder: Path) -> list[str]:
    page = (folder / "both.md").read_text(encoding="utf-8")
    return [" ".join(line.split()) for line in page.split("\n") if line.startswith("|")]


def made(words: list[str], folder: Path, name: str) -> None:
    assert main(words) == 0
    (folder / f"{words[0].partition('.')[2]}.csv").rename(folder / name)


def test_table_1_of_two_pairs(tmp_path: Path) -> None:
    for pair in ("En-De", "En-Fi"):
        made(table1(tmp_path, pair=pair), tmp_path, f"{pair}.csv")
    assert join(tmp_path, "En-De.csv", "En-Fi.csv") == 0
    assert lines(tmp_path)[0] == "| Model | En-De, beam 1 | En-De, beam 12 | En-Fi, beam 1 | En-Fi, beam 12 |"
    assert lines(tmp_path)[3] == r"| my\_own | 12.00 (32.00) | 13.00 (33.00) | 12.00 (32.00) | 13.00 (33.00) |"
    both = [row for name in ("En-De", "En-Fi") for row in rows(tmp_path / f"{name}.csv")]
    assert rows(tmp_path / "both.csv") == both


def test_pairs_whose_text_is_tokenized_in_different_ways(tmp_path: Path) -> None:
    """As BLEU of running text is in different target languages; one text is tokenized already."""
    for pair, signature in (("En-De", "tok:13a"), ("En-Zh", "tok:zh"), ("En-Fi", "tok:none")):
        words = table1(tmp_path, pair=pair)
        for path in tmp_path.glob("*.json"):
            path.write_text(path.read_text().replace("tok:none", signature).replace("tok:13a", signature))
        made(words, tmp_path, f"{pair}.csv")
    assert join(tmp_path, "En-De.csv", "En-Zh.csv") == 0
    page = (tmp_path / "both.md").read_text(encoding="utf-8")
    assert "Corpus BLEU of running text, of " in page
    assert " sentences: `tok:13a` in En-De, `tok:zh` in En-Zh." in page
    assert "The same translations" not in page
    assert join(tmp_path, "En-De.csv", "En-Fi.csv") == 0
    page = (tmp_path / "both.md").read_text(encoding="utf-8")
    assert "Corpus BLEU of running text or tokenized, cased text, equal to multi-bleu, of " in page


def test_joined_tables_are_joined_with_another(tmp_path: Path) -> None:
    """One is of models with several seeds."""
    made(["my_own" if word == "C+AttY2D" else word for word in table1(tmp_path, pair="En-De")], tmp_path, "seeds.csv")
    for pair in ("En-Fi", "En-Fr"):
        made(table1(tmp_path, pair=pair), tmp_path, f"{pair}.csv")
    assert join(tmp_path, "seeds.csv", "En-Fi.csv") == 0
    (tmp_path / "both.csv").rename(tmp_path / "joined.csv")
    assert join(tmp_path, "joined.csv", "En-Fr.csv") == 0
    assert [row["seeds"] for row in rows(tmp_path / "both.csv")] == ["2"] * 2 + ["1"] * 8


def test_table_2_of_two_pairs_with_other_models(tmp_path: Path) -> None:
    words = table2(tmp_path)
    made(words, tmp_path, "de.csv")
    times = tmp_path / "times.csv"
    times.write_text("".join(line + "\n" for line in times.read_text().split("\n")[:3]).replace("AttY", "C+AttY"))
    swaps = {"AttY": "C+AttY", "AttY2D": "C+AttY2D", "En-De": "En-Fi"}
    made([swaps.get(word, word) for word in words], tmp_path, "fi.csv")
    assert join(tmp_path, "de.csv", "fi.csv") == 0
    assert "seconds to translate 4 to 6 sentences of" in (tmp_path / "both.md").read_text()
    assert lines(tmp_path)[0] == "| Model | En-De, batch 1 | En-De, batch 4 | En-Fi, batch 1 |"
    assert lines(tmp_path)[2:] == [
        "| AttY | 4.0 | 1.8 | – |",
        "| AttY2D | 4.6 (+15.0 %) | 2.9 (+65.7 %) | – |",
        "| C+AttY | – | – | 3.0 |",
        "| C+AttY2D | – | – | 3.5 (+16.7 %) |",
    ]


def test_a_table_that_a_spreadsheet_has_saved(tmp_path: Path) -> None:
    """With quotation marks around every cell, a byte order mark and carriage returns."""
    made(table1(tmp_path), tmp_path, "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    with (tmp_path / "saved.csv").open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    for name in ("a.csv", "saved.csv"):
        assert join(tmp_path, name) == 0
        assert (tmp_path / "both.csv").read_text() == (tmp_path / "a.csv").read_text()


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (("old.csv",), "old.csv: lines end in carriage returns; convert the file"),
        (("a.csv", "a.csv"), "a.csv: En-Fi is in an earlier table, too"),
        (("a.csv", "b.csv"), "b.csv: another table than"),
        (("times.csv",), "times.csv: neither Table 1 nor Table 2"),
        (("none.csv",), "none.csv: no such file"),
        (("header.csv",), "header.csv: no rows in it; make it again"),
        (("words.csv",), "words.csv: row 2: seconds: could not convert string to float: 'long'; make the table again"),
        (
            ("bleu.csv",),
            "bleu.csv: row 2: test_detokenized: could not convert string to float: 'abc'; make the table again",
        ),
        (("inf.csv",), "inf.csv: row 2: test_detokenized: not a finite number: 'inf'; make the table again"),
        (("count.csv",), "count.csv: row 2: sentences: not a whole number of at most 15 digits"),
        (("empty.csv",), "empty.csv: row 2: seconds: could not convert string to float: ''; make the table again"),
        (("negative.csv",), "negative.csv: row 2: seconds: not a number from 0 to 1e+09: '-4.00'"),
        (("high.csv",), "high.csv: row 2: test_detokenized: not a number from 0 to 100: '1e308'"),
        (("twice.csv",), "twice.csv: row 6 is there twice; make the table again"),
    ],
)
def test_tables_that_do_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tables: tuple[str, ...], message: str
) -> None:
    made(table1(tmp_path), tmp_path, "a.csv")
    made(table2(tmp_path), tmp_path, "b.csv")
    (tmp_path / "header.csv").write_text((tmp_path / "a.csv").read_text().split("\n")[0] + "\n")
    (tmp_path / "old.csv").write_text((tmp_path / "a.csv").read_text().replace("\n", "\r"))
    (tmp_path / "words.csv").write_text((tmp_path / "b.csv").read_text().replace(",4.00,", ",long,"))
    for name, other in (("empty", ""), ("negative", "-4.00")):
        (tmp_path / f"{name}.csv").write_text((tmp_path / "b.csv").read_text().replace(",4.00,", f",{other},"))
    first = (tmp_path / "a.csv").read_text()
    for name, other in (("bleu", "abc"), ("inf", "inf"), ("high", "1e308")):
        (tmp_path / f"{name}.csv").write_text(first.replace(",11.00,", f",{other},", 1))
    (tmp_path / "count.csv").write_text(first.replace("1370", "9" * 5000))
    (tmp_path / "twice.csv").write_text(first + first.split("\n")[1] + "\n")
    assert join(tmp_path, *tables) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "both.csv").exists()
