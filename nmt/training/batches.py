"""Minibatches as in Appendix B.2: read several batches ahead, sort their pairs by length, and cut them up again."""

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

FULL_BATCH = 100  # words of the longest sentence in a full batch; longer sentences make smaller batches, to fit memory


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


def pad(
    sentences: Sequence[Sequence[int] | NDArray[np.integer]], device: torch.device | str = "cpu"
) -> tuple[Tensor, Tensor]:
    """Ids (B, T) int64 of `sentences`, each followed by EOS, and the mask (B, T) that is False on padding."""
    lengths = np.array([len(sentence) + 1 for sentence in sentences])
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, EOS, dtype=np.int64)
    for row, sentence in zip(ids, sentences, strict=True):
        row[: len(sentence)] = sentence
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)


def by_length(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """The indices of `lengths` in batches, longest first, equal ones in order.

    A batch has `size` sentences, or fewer where they are longer than FULL_BATCH words.
    """
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    while order:
        here = max(1, size * FULL_BATCH // max(FULL_BATCH, lengths[order[0]]))
        yield order[:here]
        order = order[here:]


class Batches:
    """The endless training stream: pairs of at most `maximum_length` words a side, in their shuffled order.

    The next `sort_batches` x `size` pairs, continuing from the first pair after the last, are sorted by their longer
    side and cut into `sort_batches` minibatches of exactly `size`, shortest first. A batch depends on its number alone,
    so a resumed training needs to know only how many it has seen. Raises UserError if no pair is short enough.
    """

    def __init__(self, bitext: Bitext, maximum_length: int, size: int, sort_batches: int) -> None:
        short = (bitext.source_lengths <= maximum_length) & (bitext.target_lengths <= maximum_length)
        self.bitext = bitext
        self.pairs = np.flatnonzero(short).astype(np.uint32)  # 4 bytes a pair: nothing else here grows with the corpus
        self.size, self.sort_batches = size, sort_batches
        if not len(self.pairs):
            raise UserError(f"no training pair has at most {maximum_length} words a side: raise maximum_length")

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
