"""Bins of sentence length.

A bin from 10 to 20 holds the sentences of 11 to 20 words, so that a model trained on sentences of up to 30 words has
seen all lengths of the bins up to 30. The first bin also holds the empty sentences; the last one is open.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

from nmt.settings.checks import Section, integer

OPEN_FROM = 60  # words; the last bin of Bahdanau et al. (2015), Figure 2


@dataclass(frozen=True)
class Bins(Section):
    """`bin_width` lengths, in words, share a bin."""

    bin_width: Annotated[int, integer(1)] = 10


def bins(width: int) -> list[tuple[int, int | None]]:
    """Intervals (from, to] in words: from 0 to the first multiple of `width` that is 60 or more, then an open one."""
    edges = list(range(0, OPEN_FROM + width, width))
    return [*pairwise(edges), (edges[-1], None)]


def bin_of(words: int, width: int) -> int:
    """The index in `bins(width)` of a sentence of `words` words."""
    return min(max(words - 1, 0) // width, len(bins(width)) - 1)
