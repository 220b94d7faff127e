"""Sentences of several lengths as one tensor, and in batches that need little padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.corpora.shortlist import EOS

FULL_BATCH = 100  # words of the longest sentence in a full batch; longer sentences make smaller batches, to fit memory


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
