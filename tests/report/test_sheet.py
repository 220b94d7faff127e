"""Tables as HTML: nothing of the text is read as HTML, and the sheet that the report shows."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.report.markup import MADE_UP, escape_markdown, heading, markdown_table
from nmt.report.page import document, escape, show_table, visible
from nmt.system.errors import UserError

NASTY = '<script>alert("1")</script> & a|b *c* _d_ `e` [f](g) \x00\x1b \x85'


def test_control_characters_are_seen() -> None:
    assert visible("a\x00b\x1b\x7f\x85\té\u2028") == "a␀b␛␡\ufffd\té\u2028"
    assert escape("<a href='x'>&") == "&lt;a href=&#x27;x&#x27;&gt;&amp;"


def test_markdown_shows_what_was_escaped_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "table3.md"
    lines = [
        "# Table",
        "",
        *markdown_table(["Model", "Text"], [["**x**", escape_markdown(NASTY)]]),
        "",
        "## Line",
        "",
        "<b>raw</b>",
    ]
    path.write_text("\n".join(lines))
    assert "<h1>Table</h1>" in show_table(str(path))
    shown = show_table(str(path), is_section=True)
    assert "Table" not in shown
    assert "<h3>Line</h3>" in shown
    assert shown.count('<td dir="auto"') == 2
    assert "<strong>x</strong>" in shown
    assert "<script" not in shown
    assert "&lt;b&gt;raw&lt;/b&gt;" in shown
    assert "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; a|b *c* _d_ `e` [f](g) ␀␛</td>" in shown


def test_csv_has_numbers_to_the_right(tmp_path: Path) -> None:
    path = tmp_path / "selection.csv"
    path.write_text('corpus,pairs_kept,mean\n"<un>, b",1234567,-0.5\ntotal,,1.25\n')
    shown = show_table(str(path))
    assert "<th>corpus</th><th class=number>pairs kept</th>" in shown
    assert "<td>&lt;un&gt;, b</td><td class=number>1,234,567</td><td class=number>-0.5</td>" in shown
    assert "<td>total</td><td class=number></td>" in shown
    path.write_text("corpus,pairs_kept\nnews,1\n2014,2\n")
    assert "<td>2014</td><td class=number>2</td>" in show_table(str(path))


def test_empty_columns_and_the_note_are_left_out(tmp_path: Path) -> None:
    csv, table = tmp_path / "a.csv", tmp_path / "a.md"
    csv.write_text("a,b,c\n1,,0\n2,,\n")
    assert "<th class=number>a</th><th class=number>c</th></tr>" in show_table(str(csv))
    lines = markdown_table(["Model", "x", "y", "z"], [["–", "–", "–", "1"], ["", "", "0", "2"]])
    table.write_text("\n".join([*heading("Table", True), *lines]))
    assert [" ".join(line.split()) for line in lines[::2]] == ["| Model | y | z |", "| – | – | 1 |"]
    assert MADE_UP in table.read_text()
    assert "made up" not in show_table(str(table))
    assert MADE_UP in document("Table", "", generated=True)
    assert MADE_UP not in document("Table", "")


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [("a.csv", "a,b\n1\n", "differ"), ("a.tsv", "a\n", "neither"), ("a.csv", "", "empty"), ("a.md", "\n", "empty")],
)
def test_another_table_is_one_line(tmp_path: Path, name: str, text: str, line: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=line):
        show_table(str(tmp_path / name))


def test_a_page_loads_nothing() -> None:
    page = document("a < b", "<p>c</p>")
    assert "<title>a &lt; b</title>" in page
    assert not re.search(r"(src|href)=|@import|url\(", page)


def test_a_sheet_holds_the_numbers(tmp_path: Path) -> None:
    table, numbers, output = (tmp_path / name for name in ("table1.md", "table1.csv", "sheets/table1.html"))
    table.write_text("# Table 1\n\n| a |\n| :- |\n| 1 |\n")
    numbers.write_text("a\n1\n")
    words = ["sheet", "--table", table, "--numbers", numbers, "--output", output]
    assert main(list(map(str, words))) == 0
    held = re.search(r'<a download="table1.csv" href="data:text/csv;base64,([^"]+)">', output.read_text())
    assert held is not None
    assert base64.b64decode(held[1]) == b"a\n1\n"
    assert main([*map(str, words), "--generated"]) == 0
    assert output.read_text().partition("<body>\n")[2].startswith(f'<p class="note">{MADE_UP}</p>\n<h1>')


def test_missing_numbers_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sheet", "--table", tmp_path / "a.csv", "--numbers", tmp_path / "b.csv", "--output", tmp_path / "c"]
    assert main(list(map(str, words))) == 1
    assert capsys.readouterr().err == f"nmt sheet: {tmp_path / 'b.csv'}: no such file\n"
