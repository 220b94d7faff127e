"""Words and weights as the pages' scripts read them (`words.js`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nmt.corpora.detokenize import detokenizer, unescape
from nmt.report.page import visible

JOINT = "\b"  # between two words that no space separates; `visible` leaves none within a word


def reader(language: str | None) -> Callable[[Sequence[str]], str]:
    """A function of the words of a tokenized sentence: running text of `language` whose words are still known.

    A space or JOINT separates them. That is a space everywhere where detokenization changes more than spaces, or where
    the text came tokenized and `language` is None.
    """
    if language is None:
        return lambda words: " ".join(map(visible, words))
    detokenize = detokenizer(language)

    def read(words: Sequence[str]) -> str:
        shown = [visible(unescape(word)) for word in words]
        running = visible(detokenize(" ".join(words)))
        joined, end = "", 0
        for word in shown:
            start = end + (not running.startswith(word, end))
            if not running.startswith(word, start) or running[end:start].strip():
                return " ".join(shown)
            joined += (" " if start > end else JOINT if joined else "") + word
            end = start + len(word)
        return joined

    return read


def script(name: str) -> str:
    """`words.js`, then the script `name` of this folder, as an element of a page."""
    parts = (Path(__file__).with_name(file).read_text(encoding="utf-8") for file in ("words.js", name))
    return f"<script>\n{''.join(parts)}</script>"


def shades(weights: ArrayLike) -> list[str]:
    """A row of attention weights from 0 to 1 as two hexadecimal digits for each."""
    rows: NDArray[Any] = np.round(255 * np.clip(np.asarray(weights), 0, 1)).astype(np.uint8)
    return [row.tobytes().hex() for row in rows]
