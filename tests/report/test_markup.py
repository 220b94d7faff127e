"""Markdown and LaTeX: every cell is shown as it is."""

from __future__ import annotations

from nmt.report.markup import escape_latex, escape_markdown, markdown_table, span


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
