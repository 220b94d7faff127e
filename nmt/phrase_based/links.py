"""Word alignments as files: for each pair a line of links "i-j" from source word i to target word j, counted from 0."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from nmt.system.errors import UserError
from nmt.system.text import read_lines, write_lines

Links = list[tuple[int, int]]
AGAIN = "align the words again"
CHARACTERS = frozenset("0123456789- ")  # int() reads other digits and signs, too, which Moses does not


def write_links(path: str | os.PathLike[str], alignments: Iterable[Links]) -> None:
    """Write the links of each pair on a line."""
    write_lines(path, (" ".join(f"{i}-{j}" for i, j in links) for links in alignments))


def read_links(path: str | os.PathLike[str], remedy: str = AGAIN) -> Iterator[Links]:
    """Yield the links of each pair. Raises UserError, which ends with `remedy`, if a line is not a list of links."""
    for number, line in enumerate(read_lines(path), 1):
        try:
            links = [(int(i), int(j)) for i, _, j in (link.partition("-") for link in line.split())]
            if any(j < 0 for _, j in links) or not CHARACTERS.issuperset(line):
                raise ValueError
        except ValueError:
            raise UserError(f"{path}: line {number} is not a list of links such as 0-0; {remedy}") from None
        yield links


def read_links_of(
    pairs: Iterable[Sequence[Sequence[str]]], path: str | os.PathLike[str], remedy: str = AGAIN
) -> Iterator[Links]:
    """As `read_links`, of the words of these `pairs`. Raises UserError unless each has a line, with links in it."""
    number, rest = 0, iter(pairs)
    for number, links in enumerate(read_links(path, remedy), 1):
        pair = next(rest, None)
        if pair is None or any(i >= len(pair[0]) or j >= len(pair[1]) for i, j in links):
            raise UserError(f"{path}: line {number} has links that are not between words of pair {number}; {remedy}")
        yield links
    if left := sum(1 for _ in rest):
        raise UserError(f"{path}: {number} lines for {number + left} pairs; {remedy}")
