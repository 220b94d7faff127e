"""Normalize text: what is done to every line at input, before anything else reads or compares it."""

from __future__ import annotations

import argparse
import unicodedata

from nmt.settings.sections import NFC, NORMALIZE

MARK = "\ufeff"  # a byte order mark
INVISIBLE = "\u00ad\u200b" + MARK  # the soft hyphen and the space without width


def add_normalize_argument(parser: argparse.ArgumentParser) -> None:
    """The option --normalize of a step that reads text from outside, or writes a model that will."""
    parser.add_argument(
        "--normalize",
        choices=NORMALIZE,
        default=NFC,
        help="Unicode normalization of the text that is read (default: %(default)s)",
    )


def normalized(line: str, form: str) -> str:
    """A line without byte order marks, empty where nothing in it can be seen, and in Unicode's normal form `form`."""
    if line.isascii():
        return line
    line = line.replace(MARK, "")
    if not line.strip().strip(INVISIBLE):
        return ""
    return unicodedata.normalize("NFC", line) if form == NFC else line
