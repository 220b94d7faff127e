"""Segments of SGML: what counts as one, what is refused, and that every text is read in one pass."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from nmt.corpora.sgml import Segment, read_segments
from nmt.system.errors import UserError


def texts(text: str) -> list[str]:
    return [segment.text for segment in read_segments(text, "x.sgm")]


def test_identifiers() -> None:
    text = """<SRCSET id="set"><doc genre='news' docid = "a>b" id="x"><hl><seg id="1">one</seg></hl></DOC>
    <doc id=b><SEG\n lang="id=9" id=' 2 '>two</SEG ></doc><seg>three</seg>"""
    assert read_segments(text, "x") == [Segment("a>b", "1", "one"), Segment("b", "2", "two"), Segment("", "", "three")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<!-- <seg>no</seg> --><seg>yes</seg>", ["yes"]),
        ("<seg>a <!-- </seg> -->b</seg>", ["a b"]),
        ("<seg>a &lt; <![CDATA[<b> &amp; </seg>]]> c</seg>", ["a < <b> &amp; </seg> c"]),
        ("<seg n=\"x > y\" m='>'>a</seg>", ["a"]),
        ("<doc docid=l'equipe><seg>a</seg></doc><seg n=\">b</seg>", ["a", "b"]),
        ("<segment>no</segment><seg>a\n <b>\tc</seg>", ["a <b> c"]),
    ],
)
def test_comments_sections_and_quoted_ends(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<seg>a<seg>b</seg>", "a <seg> is not closed"),
        ("<seg>a</seg><seg>b", "a <seg> is not closed"),
        ("<doc><seg>a</doc>", "a <seg> is not closed"),
        ("<seg>a</seg></seg>", "not opened"),
        ("<seg>a</seg><seg", "a <seg> is not closed"),
        ("<seg>a</seg><!-- <seg>b</seg>", "a comment is not closed"),
        ("<seg>a<![CDATA[b</seg>", "a CDATA section is not closed"),
    ],
)
def test_what_is_not_closed_is_refused(text: str, said: str) -> None:
    with pytest.raises(UserError, match=f"^x.sgm: .*{said}"):
        texts(text)


@pytest.mark.parametrize(
    "part", ["<seg>", "<seg ", "<!--", "<![CDATA[", "<seg>a</seg><!--", '<seg a=">a</seg>', "<doc '"]
)
def test_damaged_text_takes_no_longer_than_text(part: str) -> None:
    """A million characters, in which each part is searched for an end that is not there."""
    begun = time.process_time()
    with suppress(UserError):
        texts(part * (1_000_000 // len(part)))
    assert time.process_time() - begun < 5
