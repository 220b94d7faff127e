"""The SGML of test sets: the text of each <seg>, and which segment of which document it is.

Comments do not count, and CDATA is text. Everything is found in one pass, however the file is damaged.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from nmt.system.errors import UserError

NAME = re.compile(r"\.sgml?(\.gz|\.xz)?$", re.IGNORECASE)
MARK = re.compile(r"<!--|<!\[CDATA\[|<(/?)(seg|doc)\b", re.IGNORECASE)
ENDS = {"<!--": ("-->", "comment"), "<![CDATA[": ("]]>", "CDATA section")}
TAG = re.compile(r"(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+>")  # the rest of a tag, in which a quoted > is no end
IDENTIFIER = re.compile(r"(?<![\w-])(docid|id)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE)
ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]+|#[xX][0-9a-fA-F]+);")
SPACE = re.compile(r"[ \t\r\n]+")


class Segment(NamedTuple):
    """A segment: the identifiers of its document and of itself, "" where there is none, and its text."""

    document: str
    number: str
    text: str


def read_segments(text: str, place: str) -> list[Segment]:
    """The segments in order, with entities resolved and white space collapsed; UserError if one is not closed."""
    found: list[Segment] = []
    document = number = ""
    body: list[str] | None = None  # of the open segment
    position = 0
    while mark := MARK.search(text, position):
        if body is not None:
            body.append(_resolved(text[position : mark.start()]))
        if not mark[2]:
            ending, what = ENDS[mark[0].upper()]
            end = text.find(ending, mark.end())
            if end < 0:
                raise UserError(f"{place}: a {what} is not closed; the file is truncated or damaged")
            if body is not None and what != "comment":
                body.append(text[mark.end() : end])
            position = end + len(ending)
            continue
        tag = TAG.match(text, mark.end())
        position = tag.end() if tag else text.find(">", mark.end()) + 1
        closes, is_segment = bool(mark[1]), mark[2].lower() == "seg"
        if not position or (body is not None) != (closes and is_segment):
            raise UserError(f"{place}: a <seg> is not closed, or not opened; the file is truncated or damaged")
        given = IDENTIFIER.finditer(text, mark.end(), position)
        identifiers = {one[1].lower(): (one[2] or one[3] or one[4] or "").strip() for one in given}
        if not is_segment:
            document = identifiers.get("docid", identifiers.get("id", ""))
        elif body is None:
            number, body = identifiers.get("id", ""), []
        else:
            found.append(Segment(document, number, SPACE.sub(" ", "".join(body)).strip(" ")))
            body = None
    if body is not None:
        raise UserError(f"{place}: a <seg> is not closed; the file is truncated or damaged")
    return found


def _resolved(text: str) -> str:
    return ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def _keys(segments: Sequence[Segment], have_documents: bool, have_numbers: bool) -> list[tuple[str, str]]:
    """The document and the number of each segment."""
    unnumbered: Counter[str] = Counter()
    keys = []
    for one in segments:
        document, number = one.document if have_documents else "", one.number if have_numbers else ""
        unnumbered[document] += not number
        keys.append((document, number or f"without a number {unnumbered[document]}"))
    return keys


def in_order_of(sources: Sequence[Segment], targets: Sequence[Segment], name: str) -> Sequence[Segment]:
    """`targets` in the order of `sources`: the segment of the same number and document translates a segment.

    Segments without a number, all of them if a side has none, are told apart by their order in the document.
    Documents count if both sides name them. Raises UserError if a segment is on only one side.
    """
    have_documents = all(any(one.document for one in side) for side in (sources, targets))
    have_numbers = all(any(one.number for one in side) for side in (sources, targets))
    keys, others = (_keys(side, have_documents, have_numbers) for side in (sources, targets))
    if keys == others:
        return targets
    by_key = dict(zip(others, targets, strict=True))
    for side, unlike in ((keys, others), (others, keys)):
        known = set(unlike)
        for document, number in side:
            if (document, number) not in known:
                raise UserError(
                    f"{name}: segment {number} of document {document!r} is on one side alone; both sides must hold the "
                    "same segments of the same documents"
                )
    if len(by_key) < len(targets) or len(set(keys)) < len(keys):
        raise UserError(f"{name}: both sides name a segment twice, in another order; give each a number of its own")
    return [by_key[key] for key in keys]
