"""Words and weights as the pages' scripts read them (`words.js`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nmt.corpora.detokenize import joins, unescape
from nmt.report.page import visible

JOINT = "\b"  # between two words that no space separates; `visible` leaves none within a word


def reader(language: str | None) -> Callable[[Sequence[str]], str]:
    """A function of the words of a tokenized sentence: running text of `language` whose words are still known.

    A space or JOINT separates them. That is a space everywhere where the text came tokenized and `language` is None.
    """
    if language is None:
        return lambda words: " ".join(map(visible, words))

    def read(words: Sequence[str]) -> str:
        plain = [unescape(word) for word in words]
        pieces = zip(plain, joins(plain, language), strict=True)
        return "".join((JOINT if joined else " ") + visible(word) for word, joined in pieces)[1:]

    return read


def script(name: str) -> str:
    """`words.js`, then the script `name` of this folder, as an element of a page."""
    parts = (Path(__file__).with_name(file).read_text(encoding="utf-8") for file in ("words.js", name))
    return f"<script>\n{''.join(parts)}</script>"


def shades(weights: ArrayLike) -> list[str]:
    """A row of attention weights from 0 to 1 as two hexadecimal digits for each."""
    rows: NDArray[Any] = np.round(255 * np.clip(np.asarray(weights), 0, 1)).astype(np.uint8)
    return [row.tobytes().hex() for row in rows]
