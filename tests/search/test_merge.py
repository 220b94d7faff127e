"""Attention weights of words from those of subwords."""

from __future__ import annotations

import numpy as np

from nmt.search.merge import merge


def test_source_subwords_are_summed_and_target_subwords_averaged() -> None:
    weights = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.0, 0.25, 0.75]])
    # Target: a word of two subwords, then one of one; source: likewise, with a dropped word between them.
    expected = [[0.75, 0.0, 0.25], [0.25, 0.0, 0.75]]
    assert merge(weights, [0, 0, 1], [0, 0, 2]).tolist() == expected


def test_weights_between_words_stay_as_they_are() -> None:
    weights = np.random.default_rng(1).random((4, 6))
    assert np.array_equal(merge(weights, range(4), range(6)), weights)
