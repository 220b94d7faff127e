"""Minibatches as in Appendix B.2: read a window ahead, sort it by length, cut it up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.corpora.binarize import Bitext
from nmt.corpora.shortlist import EOS
from nmt.system.files import UserError

FULL_BATCH = 100  # words of the longest sentence up to which a batch is full; longer ones would take too much memory


class Batch(NamedTuple):
    """B sentence pairs: ids (B, T) that end with EOS, and masks (B, T) that are False on padding."""

    source: Tensor
    source_mask: Tensor
    target: Tensor
    target_mask: Tensor

    def to(self, device: torch.device) -> Batch:
        """The same on `device`."""
        return Batch(*(part.to(device, non_blocking=True) for part in self))

    def pinned(self) -> Batch:
        """The same in memory that a GPU copies from while all else goes on."""
        return Batch(*(part.pin_memory() for part in self))


def pad(
    sentences: Sequence[Sequence[int] | NDArray[np.integer]], device: torch.device | str = "cpu"
) -> tuple[Tensor, Tensor]:
    """Ids (B, T) int64 of `sentences`, each with EOS after its words, and the mask (B, T) of what is not padding."""
    lengths = np.array([len(sentence) + 1 for sentence in sentences])
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, EOS, dtype=np.int64)
    for row, sentence in zip(ids, sentences, strict=True):
        row[: len(sentence)] = sentence
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)


def by_length(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """The indices of `lengths` in batches of `size`, longest first and equal ones in order; fewer of long sentences."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    while order:
        here = max(1, size * FULL_BATCH // max(FULL_BATCH, lengths[order[0]]))
        yield order[:here]
        order = order[here:]


class Batches:
    """The training stream: pairs of at most `maximum_length` words a side, in the shuffled order, for ever.

    `window` x `size` pairs are taken in a row, wrapping round at the end, sorted by the longer side and cut into
    `window` minibatches of exactly `size`, shortest first. A batch depends on its number alone, so a training that
    goes on needs only to know how far it was.
    """

    def __init__(self, bitext: Bitext, maximum_length: int, size: int, window: int) -> None:
        short = (bitext.source_lengths <= maximum_length) & (bitext.target_lengths <= maximum_length)
        self.bitext = bitext
        self.pairs = np.flatnonzero(short).astype(np.uint32)  # 4 bytes a pair: all that grows with the corpus here
        self.size, self.window = size, window
        if not len(self.pairs):
            raise UserError(f"no training pair has at most {maximum_length} words a side: raise maximum_length")

    @property
    def epoch(self) -> float:
        """How many batches make one pass over the pairs."""
        return len(self.pairs) / self.size

    def __getitem__(self, number: int) -> Batch:
        window, place = divmod(number, self.window)
        first = window * self.window * self.size
        taken = self.pairs[np.arange(first, first + self.window * self.size) % len(self.pairs)]
        source, target = self.bitext.source_lengths, self.bitext.target_lengths
        order = np.argsort(np.maximum(source[taken], target[taken]), kind="stable")
        chosen = taken[order[place * self.size : (place + 1) * self.size]]
        return Batch(
            *pad([self.bitext.source(pair) for pair in chosen]), *pad([self.bitext.target(pair) for pair in chosen])
        )
