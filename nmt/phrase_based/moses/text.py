"""Text as Moses reads it: a | would separate the factors of a word there, and ||| the columns of a table.

So it is written as Moses's tokenizer writes it, with an invisible character behind: text that already holds the
tokenizer's code comes back as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nmt.corpora.pairs import read_pairs
from nmt.system.files import write_lines

BAR, CODE = "|", "&#124;\u2060"


def encoded(line: str) -> str:
    """`line` as Moses may read it."""
    return line.replace(BAR, CODE)


def decoded(line: str) -> str:
    """What a line of Moses's stands for."""
    return line.replace(CODE, BAR)


def corpus_options(texts: Sequence[Path], folder: Path) -> list[str]:
    """The options of train-model.perl that name the two sides of a text, of which they write copies into `folder`."""
    for place, language in enumerate(("source", "target")):
        write_lines(folder / f"text.{language}", (encoded(pair[place]) for pair in read_pairs(*texts)))
    return ["-corpus", str(folder / "text"), "-f", "source", "-e", "target"]
