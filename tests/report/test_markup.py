"""Markdown and LaTeX: every cell is shown as it is."""

from __future__ import annotations

from nmt.report.markup import duration, escape_latex, escape_markdown, markdown_table, span


def test_escaping() -> None:
    assert escape_markdown("a|b *c* _d_ <e>\u2028`f`") == r"a\|b \*c\* \_d\_ \<e\> \`f\`"
    assert escape_latex("{a}_^~\\&$#%*[") == (
        r"\{a\}\_\textasciicircum{}\textasciitilde{}\textbackslash{}\&\$\#\%\textsuperscript{*}{[}"
    )
    assert markdown_table(["x", "y"], [["a", "1"]]) == [
        "| x    |    y |",
        "| :--- | ---: |",
        "| a    |    1 |",
    ]
    assert span([3, 3]) == "3"
    assert span([5000, 3, 4]) == "3 to 5,000"


def test_less_than_an_hour_is_in_minutes() -> None:
    assert [duration(hours) for hours in (0.034, 0.5, 1.0, 12.34)] == ["2.0 min", "30.0 min", "1.0 h", "12.3 h"]
