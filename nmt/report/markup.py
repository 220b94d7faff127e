"""Tables in Markdown and LaTeX, with every cell escaped for its format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from nmt.system.tables import Cell

LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # a row that starts with [ would be an argument of the line break before it
    "]": "{]}",
    "*": r"\textsuperscript{*}",
}


def number(value: Cell, decimals: int) -> str:
    """`value` with `decimals` digits after the point; "" for None."""
    return "" if value is None else f"{float(value):.{decimals}f}"


def escape_markdown(text: str) -> str:
    """`text` so that Markdown, in a table or outside, shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|~$&#])", r"\\\1", re.sub(r"\s+", " ", text))


def escape_latex(text: str) -> str:
    """`text` so that LaTeX prints it as it is, a star raised as in the paper's RNNsearch-50*."""
    return "".join(LATEX.get(character, character) for character in re.sub(r"\s+", " ", text))


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table, first column to the left, others to the right; cells are escaped already."""
    lines = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    widths = [max(width, 4) for width in widths]

    def line(cells: Sequence[str]) -> str:
        first, *others = (
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "| " + " | ".join([first, *others]) + " |"

    rule = [":" + "-" * (widths[0] - 1), *("-" * (width - 1) + ":" for width in widths[1:])]
    return [line(lines[0]), line(rule), *(line(cells) for cells in lines[1:])]


def beside(ours: str, paper: str) -> str:
    """Our number with the paper's in brackets; a dash for one that is not there, "" for neither."""
    if not paper:
        return ours
    return f"{ours or '–'} ({paper})"


def span(counts: Iterable[int]) -> str:
    """One count for the text below a table, "a to b" where the models differ in it."""
    smallest, *_, largest = [*sorted(set(counts))] * 2
    return f"{smallest:,}" if smallest == largest else f"{smallest:,} to {largest:,}"
