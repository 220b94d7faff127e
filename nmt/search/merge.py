"""Attention weights between words, from those between their subwords."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def merge(weights: NDArray[Any], targets: Sequence[int], sources: Sequence[int]) -> NDArray[Any]:
    """The weights (target words, source words) of the `weights` (target symbols, source symbols).

    `targets` and `sources` are the numbers of the words, from 0, that the symbols belong to. The weight of a source
    word is the sum over its symbols, that of a target word the mean over its own.
    """
    return word_means(weights, targets) @ _membership(sources).T


def word_means(values: NDArray[Any], words: Sequence[int]) -> NDArray[Any]:
    """The means (words, columns) of the `values` (symbols, columns) over the symbols of each word, as in `merge`."""
    rows = _membership(words)
    return (rows / rows.sum(axis=1, keepdims=True)) @ values


def _membership(words: Sequence[int]) -> NDArray[Any]:
    """Which symbol belongs to which word: ones and zeros, shape (words, symbols)."""
    return np.equal.outer(np.arange(max(words, default=-1) + 1), words).astype(float)
