"""Word alignments as files: for each pair a line of links "i-j" from source word i to target word j, counted from 0."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from nmt.system.files import UserError, read_lines, write_lines

Links = list[tuple[int, int]]
CHARACTERS = frozenset("0123456789- ")  # int() reads other digits and signs, too, which Moses does not


def write_links(path: str | os.PathLike[str], alignments: Iterable[Links]) -> None:
    """Write the links of each pair on a line."""
    write_lines(path, (" ".join(f"{i}-{j}" for i, j in links) for links in alignments))


def read_links(path: str | os.PathLike[str]) -> Iterator[Links]:
    """Yield the links of each pair. Raises UserError if a line is not a list of links."""
    for number, line in enumerate(read_lines(path), 1):
        try:
            links = [(int(i), int(j)) for i, _, j in (link.partition("-") for link in line.split())]
            if any(j < 0 for _, j in links) or not CHARACTERS.issuperset(line):
                raise ValueError
        except ValueError:
            raise UserError(
                f"{path}: line {number} is not a list of links such as 0-0; align the words again"
            ) from None
        yield links
