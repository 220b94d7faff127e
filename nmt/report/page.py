"""Self-contained HTML pages: text, Markdown and CSV made safe to show, and the document around them.

Also words and weights as the scripts of pages read them (`words.js`).
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nmt.corpora.detokenize import joins, unescape
from nmt.corpora.pieces import BYTE, SPACE, spelled
from nmt.report.markup import MADE_UP
from nmt.system.errors import UserError
from nmt.system.tables import rows_of_csv
from nmt.system.text import read_lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

STYLE = Path(__file__).with_name("page.css")
LONGEST_COUNT = 20  # digits
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
CONTROLS = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
CONTROLS |= dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
FOLD = re.compile(r"<p>&lt;details&gt;\n&lt;summary&gt;([^<]*)&lt;/summary&gt;</p>|<p>&lt;/details&gt;</p>")
SCROLLED = ('<div class="scroll" tabindex="0"><table>', "</table></div>")


def visible(text: str) -> str:
    """Replace control characters, which a browser would drop or misread, by visible signs."""
    return text.translate(CONTROLS)


def escape(text: str) -> str:
    """Escape `text` for HTML, inside an element or an attribute."""
    return html.escape(visible(text))


def emphasized(text: str) -> str:
    """`text` of one line with *emphasis* in Markdown, as HTML."""
    return str(_parser().renderInline(visible(text)))


def document(title: str, body: str, *, generated: bool = False) -> str:
    """A page that contains the style sheet of all pages; where corpora are `generated`, it says so first."""
    note = f'<p class="note">{escape(MADE_UP)}</p>\n' if generated else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{STYLE.read_text(encoding='utf-8')}</style>\n</head>\n"
        f"<body>\n{note}{body}\n</body>\n</html>"
    )


def show_table(path: str, *, is_section: bool = False) -> str:
    """A table in Markdown or in CSV. Raises UserError for another format and for an empty file.

    A section of a page has its own heading <h2>: the table's heading is left out there, and further ones are a level
    lower. The page itself says whether its language is made up.
    """
    lines = [visible(line) for line in read_lines(path)]
    if not any(lines):
        raise UserError(f"{path}: empty; make it again")
    if path.endswith(".md"):
        left_out = [f"**{MADE_UP}**", *([lines[0]] if is_section and lines[0].startswith("# ") else [])]
        return _markdown("\n".join(line for line in lines if line not in left_out), deeper=is_section)
    if path.endswith(".csv"):
        return _csv(path, rows_of_csv(lines))
    raise UserError(f"{path}: neither .md nor .csv; name a table in one of these formats")


def _parser() -> MarkdownIt:
    """A parser of CommonMark that shows HTML as text."""
    from markdown_it import MarkdownIt  # here, so that pages without Markdown do without it

    return MarkdownIt("commonmark", {"html": False})


def _markdown(text: str, *, deeper: bool) -> str:
    """CommonMark with tables and folded parts; with `deeper`, a heading is one level below that of the text."""
    parser = _parser().enable("table")
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{int(token.tag[1:]) + deeper}"
    shown = parser.renderer.render(tokens, parser.options, {})
    scrolled = str(shown).replace("<table>", SCROLLED[0]).replace("</table>", SCROLLED[1])
    scrolled = scrolled.replace("<td", '<td dir="auto"')  # a cell may hold a sentence of any language
    return FOLD.sub(lambda fold: f"<details><summary>{fold[1]}</summary>" if fold[1] else "</details>", scrolled)


def _csv(path: str, rows: Iterable[Sequence[str]]) -> str:
    """A table with columns of numbers aligned to the right and thousands separated; empty columns are left out."""
    columns, *body = list(rows) or [[]]
    if any(len(row) != len(columns) for row in body):
        raise UserError(f"{path}: its rows differ in length; make the file again")
    kept = [index for index in range(len(columns)) if not body or any(row[index] for row in body)]
    columns, body = [columns[index] for index in kept], [[row[index] for index in kept] for row in body]
    right = [all(NUMBER.fullmatch(row[index]) or not row[index] for row in body) for index in range(len(columns))]

    def line(cells: Sequence[str], tag: str) -> str:
        marked = (
            f"<{tag}{' class=number' if number else ''}>{escape(cell)}</{tag}>"
            for cell, number in zip(cells, right, strict=True)
        )
        return f"<tr>{''.join(marked)}</tr>"

    def grouped(cell: str) -> str:
        return f"{int(cell):,}" if cell.isdecimal() and len(cell) < LONGEST_COUNT else cell

    head = line([column.replace("_", " ") for column in columns], "th")
    lines = (
        line([grouped(cell) if number else cell for cell, number in zip(row, right, strict=True)], "td") for row in body
    )
    return f"{SCROLLED[0]}\n<thead>{head}</thead>\n<tbody>\n" + "\n".join(lines) + f"\n</tbody>\n{SCROLLED[1]}"


Reader = Callable[[Sequence[str]], str]
JOINT = "\b"  # between two words that no space separates; `visible` leaves none within a word


def reader(language: str | None, *, pieces: bool = False) -> Reader:
    """A function of the words of a tokenized sentence: running text of `language` whose words are still known.

    A space or JOINT separates them. Where `language` is None, the text came tokenized, and all have a space. With
    `pieces` they are those of SentencePiece, which say where spaces are.
    """
    if pieces:
        return _read_pieces
    if language is None:
        return lambda words: " ".join(map(visible, words))

    def read(words: Sequence[str]) -> str:
        plain = [unescape(word) for word in words]
        pairs = zip(plain, joins(plain, language), strict=True)
        return "".join((JOINT if joined else " ") + visible(word) for word, joined in pairs)[1:]

    return read


def _read_pieces(pieces: Sequence[str]) -> str:
    """A piece that only says that there is a space is an empty word, as are all bytes of characters but the first."""
    words: list[str] = []
    for is_byte, group in groupby(pieces, lambda piece: BYTE.fullmatch(piece) is not None):
        found = list(group)
        if is_byte:
            words += [spelled(found), *[""] * (len(found) - 1)]
        else:
            words += [piece.removeprefix(SPACE) for piece in found]
    spaces = (" " if piece.startswith(SPACE) else JOINT for piece in pieces)
    shown = "".join(space + visible(word) for space, word in zip(spaces, words, strict=True))[1:]
    return shown or SPACE * len(pieces[:1])  # one word, even if it is empty


def script(name: str) -> str:
    """`words.js`, then the script `name` of this folder, as an element of a page."""
    parts = (Path(__file__).with_name(file).read_text(encoding="utf-8") for file in ("words.js", name))
    return f"<script>\n{''.join(parts)}</script>"


def shades(weights: ArrayLike) -> list[str]:
    """A row of attention weights from 0 to 1 as two hexadecimal digits for each."""
    rows: NDArray[Any] = np.round(255 * np.clip(np.asarray(weights), 0, 1)).astype(np.uint8)
    return [row.tobytes().hex() for row in rows]
