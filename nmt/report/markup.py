"""Tables in Markdown and LaTeX, with every cell escaped for its format, and what stands around them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence

from nmt.system.options import Output

MADE_UP = (
    "The language of this experiment is made up: the project generates the sentences itself. "
    "What the numbers say holds for this language alone."
)
EMPTY = ("", "–")  # a cell that holds nothing
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
    "[": "{[}",  # at the start of a row, [ would begin an argument of the line break before it
    "]": "{]}",
    "*": r"\textsuperscript{*}",
}


def add_generated_argument(parser: argparse.ArgumentParser) -> None:
    """The option --generated of a step that makes a page or a table."""
    parser.add_argument(
        "--generated", action="store_true", help="say first that the language is made up (default: it is not)"
    )


def add_table_arguments(parser: argparse.ArgumentParser, *, printed: bool = False) -> None:
    """The options of every step that makes a table, with --printed for one whose numbers the paper prints, too."""
    if printed:
        parser.add_argument(
            "--printed", nargs="?", metavar="TSV", help="the paper's numbers, to stand beside ours (default: none)"
        )
    add_generated_argument(parser)
    parser.add_argument("--output-csv", type=Output, required=True)
    parser.add_argument("--output-md", type=Output, required=True)


def heading(title: str, generated: bool) -> list[str]:
    """The lines above a table in Markdown; where the corpora are `generated`, they say so."""
    return [f"# {title}", "", *([f"**{MADE_UP}**", ""] if generated else [])]


def folded(summary: str, lines: Iterable[str]) -> list[str]:
    """Lines of Markdown that are hidden until a click on `summary`."""
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, "", "</details>"]


def duration(hours: float) -> str:
    """Hours, or minutes where they are less than one."""
    return f"{hours:.1f} h" if hours >= 1 else f"{60 * hours:.1f} min"


def escape_markdown(text: str) -> str:
    """Escape `text` for Markdown, inside a table or outside."""
    return re.sub(r"([\\`*_{}\[\]<>|~$&#])", r"\\\1", re.sub(r"\s+", " ", text))


def escape_latex(text: str) -> str:
    """Escape `text` for LaTeX; a star is raised, as in the paper's RNNsearch-50*."""
    return "".join(LATEX.get(character, character) for character in re.sub(r"\s+", " ", text))


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table of escaped cells, the first column aligned to the left, the others to the right.

    Columns that hold nothing are left out.
    """
    body = [list(row) for row in rows]
    kept = [index for index in range(len(columns)) if not (index and body and all(row[index] in EMPTY for row in body))]
    lines = [[line[index] for index in kept] for line in (columns, *body)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(kept))]
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
    """Our number with the paper's in brackets; a dash where ours is missing, ours alone where the paper's is."""
    if not paper:
        return ours
    return f"{ours or '–'} ({paper})"


def listed(parts: Sequence[str]) -> str:
    """A list in words: "a", "a and b", "a, b and c"; "" for none."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)


def span(counts: Iterable[int]) -> str:
    """The count that all models share, or "a to b" where they differ."""
    smallest, *_, largest = [*sorted(set(counts))] * 2
    return f"{smallest:,}" if smallest == largest else f"{smallest:,} to {largest:,}"
