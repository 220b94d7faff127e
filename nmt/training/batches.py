"""Minibatches as in Appendix B.2: the pairs of several batches are sorted by length and split into batches again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from nmt.corpora.binarize import Bitext
from nmt.corpora.padding import pad
from nmt.system.errors import UserError

Made = TypeVar("Made")


class Batch(NamedTuple):
    """B sentence pairs: ids (B, T) that end with EOS, and masks (B, T) that are False on padding."""

    source: Tensor
    source_mask: Tensor
    target: Tensor
    target_mask: Tensor

    def to(self, device: torch.device) -> Batch:
        """A copy on `device`."""
        return Batch(*(part.to(device, non_blocking=True) for part in self))

    def pinned(self) -> Batch:
        """A copy in page-locked memory, which a GPU can read while computing."""
        return Batch(*(part.pin_memory() for part in self))


class Batches:
    """The endless training stream: pairs of at most `maximum_length` words per side, in their shuffled order.

    The next `sort_batches` x `size` pairs, continuing from the first pair after the last, are sorted by their longer
    side and split into `sort_batches` minibatches of exactly `size`, shortest first. A batch depends only on its
    number, so a resumed run needs to know only how many it has seen. Raises UserError if no pair is short enough.
    """

    def __init__(self, bitext: Bitext, maximum_length: int, size: int, sort_batches: int) -> None:
        short = (bitext.source_lengths <= maximum_length) & (bitext.target_lengths <= maximum_length)
        self.bitext = bitext
        # 4 bytes per pair; nothing else here grows with the corpus
        self.pairs = np.flatnonzero(short).astype(np.uint32)
        self.size, self.sort_batches = size, sort_batches
        if not len(self.pairs):
            raise UserError(f"no training pair has at most {maximum_length} words per side: raise maximum_length")

    def __getitem__(self, number: int) -> Batch:
        group, place = divmod(number, self.sort_batches)
        group_size = self.sort_batches * self.size
        taken = self.pairs[np.arange(group * group_size, (group + 1) * group_size) % len(self.pairs)]
        source, target = self.bitext.source_lengths, self.bitext.target_lengths
        order = np.argsort(np.maximum(source[taken], target[taken]), kind="stable")
        chosen = taken[order[place * self.size : (place + 1) * self.size]]
        return Batch(
            *pad([self.bitext.source(pair) for pair in chosen]), *pad([self.bitext.target(pair) for pair in chosen])
        )


@contextmanager
def ahead(make: Callable[[int], Made], first: int) -> Iterator[Iterator[Made]]:
    """Yield an endless iterator over `make(first)`, `make(first + 1)`, ..., each computed while the last is in use.

    One thread calls `make`, and ends with the context. An error in `make` is raised where its result is requested.
    """
    with ThreadPoolExecutor(1, "prefetch") as thread:

        def results() -> Iterator[Made]:
            waiting = thread.submit(make, first)
            for number in itertools.count(first + 1):
                result = waiting.result()
                waiting = thread.submit(make, number)
                yield result

        yield results()
