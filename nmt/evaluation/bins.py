"""Bins of sentence length.

A bin from 10 to 20 holds the sentences of 11 to 20 words, so that a model trained on sentences of up to 30 words has
seen all lengths of the bins up to 30. The first bin also holds the empty sentences; the last one is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

from nmt.settings.checks import Section, integer

OPEN_FROM = 60  # words; the last bin of Bahdanau et al. (2015), Figure 2


@dataclass(frozen=True)
class Bins(Section):
    """`bin_width` lengths, in words, share a bin.

    A bin of fewer than `fewest` sentences is joined with the next; a remainder at the end, with the bin before it.
    """

    bin_width: Annotated[int, integer(1)] = 10
    fewest: Annotated[int, integer(0)] = 0

    def members(self, lengths: Sequence[int]) -> list[tuple[int, int | None, list[int]]]:
        """The bins of sentences of these lengths: from, to, and the indices of the sentences."""
        edges = bins(self.bin_width)
        found: list[list[int]] = [[] for _ in edges]
        for index, words in enumerate(lengths):
            found[bin_of(words, self.bin_width)].append(index)
        joined: list[tuple[int, int | None, list[int]]] = []
        for (low, high), indices in zip(edges, found, strict=True):
            if joined and len(joined[-1][2]) < self.fewest:
                joined[-1] = (joined[-1][0], high, sorted(joined[-1][2] + indices))
            else:
                joined.append((low, high, indices))
        if len(joined) > 1 and len(joined[-1][2]) < self.fewest:
            (low, _, before), (_, high, last) = joined[-2:]
            joined[-2:] = [(low, high, sorted(before + last))]
        return joined


def bins(width: int) -> list[tuple[int, int | None]]:
    """Intervals (from, to] in words: from 0 to the first multiple of `width` that is 60 or more, then an open one."""
    edges = list(range(0, OPEN_FROM + width, width))
    return [*pairwise(edges), (edges[-1], None)]


def bin_of(words: int, width: int) -> int:
    """The index in `bins(width)` of a sentence of `words` words."""
    return min(max(words - 1, 0) // width, len(bins(width)) - 1)
