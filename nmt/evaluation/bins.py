"""Bins of sentence length.

A bin from 10 to 20 holds the sentences of 11 to 20 words, so that a model trained on sentences of up to 30 words has
seen all lengths of the bins up to 30. The first bin also holds the empty sentences; the last one, from the first
multiple of the width that is 60 or more, is open.
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
        edges = range(0, OPEN_FROM + self.bin_width, self.bin_width)
        found: list[tuple[int, int | None, list[int]]] = []
        for low, high in [*pairwise(edges), (edges[-1], None)]:
            indices = [i for i, words in enumerate(lengths) if low < words <= (high or words) or words == low == 0]
            if found and len(found[-1][2]) < self.fewest:
                low, _, before = found.pop()
                indices = sorted(before + indices)
            found.append((low, high, indices))
        if len(found) > 1 and len(found[-1][2]) < self.fewest:
            (low, _, before), (_, high, last) = found[-2:]
            found[-2:] = [(low, high, sorted(before + last))]
        return found
