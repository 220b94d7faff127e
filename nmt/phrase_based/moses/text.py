"""Text as Moses reads it, in which some characters have a meaning of their own.

A | separates the factors of a word and, as |||, the columns of a table; words in brackets are symbols of a grammar;
<s>, </s> and <unk> are words of every language model. So they are written as character references, as Moses's tokenizer
does, with an invisible character behind: text that already holds references comes back as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nmt.corpora.pairs import read_pairs
from nmt.system.files import write_lines

MARK = "\u2060"
CODES = {"|": "&#124;", "[": "&#91;", "]": "&#93;", "<": "&#60;", ">": "&#62;"}
_ENCODED = str.maketrans({sign: code + MARK for sign, code in CODES.items()})


def encoded(line: str) -> str:
    """`line` as Moses may read it."""
    return line.translate(_ENCODED)


def decoded(line: str) -> str:
    """The text that a line from Moses stands for."""
    for sign, code in CODES.items():
        line = line.replace(code + MARK, sign)
    return line


def corpus_options(texts: Sequence[Path], folder: Path) -> list[str]:
    """The options of train-model.perl that name the two sides of a text, of which they write copies into `folder`."""
    for place, language in enumerate(("source", "target")):
        write_lines(folder / f"text.{language}", (encoded(pair[place]) for pair in read_pairs(*texts)))
    return ["-corpus", str(folder / "text"), "-f", "source", "-e", "target"]
