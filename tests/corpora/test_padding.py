"""Sentences as padded tensors, and in batches by their lengths."""

from __future__ import annotations

import torch

from nmt.corpora.padding import by_length, pad
from nmt.corpora.shortlist import EOS


def test_padding_is_after_the_end_of_sentence() -> None:
    ids, mask = pad([[5, 6, 7], [], [8]])
    assert ids.tolist() == [[5, 6, 7, EOS], [EOS] * 4, [8, EOS, EOS, EOS]]
    assert mask.tolist() == [[True] * 4, [True, False, False, False], [True, True, False, False]]
    assert ids.dtype == torch.int64


def test_long_sentences_make_small_batches() -> None:
    lengths = [3, 250, 100, 7, 100, 1000, 3]
    assert list(by_length(lengths, 4)) == [[5], [1], [2, 4, 3, 0], [6]]
    assert list(by_length([], 4)) == []
