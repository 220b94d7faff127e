"""BLEU of tokenized text from counts that add up over sentences, for tuning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ORDERS = 4
COUNTS = 2 * ORDERS + 2  # matches and n-grams of each order, lengths of hypothesis and reference
Array = NDArray[np.float64]


def counts(words: Sequence[str], reference: Sequence[str]) -> list[int]:
    """The counts of one sentence: matches, n-grams (each for the orders 1 to 4), length, length of the reference."""
    matches, totals = [], []
    for order in range(1, ORDERS + 1):
        own, wanted = (
            Counter(tuple(side[first : first + order]) for first in range(len(side) - order + 1))
            for side in (words, reference)
        )
        matches.append(sum((own & wanted).values()))
        totals.append(sum(own.values()))
    return [*matches, *totals, len(words), len(reference)]


def bleu(sums: Array) -> Array:
    """BLEU in percent, without smoothing, of summed counts; shape (..., COUNTS) -> (...)."""
    matches, totals = sums[..., :ORDERS], sums[..., ORDERS : 2 * ORDERS]
    length, reference = np.maximum(sums[..., -2], 1), sums[..., -1]
    with np.errstate(divide="ignore"):
        precision = np.log(matches / np.maximum(totals, 1)).mean(axis=-1)
    result: Array = 100 * np.exp(precision + np.minimum(0, 1 - reference / length))
    return result
