"""Holm's correction: p-values that hold for several comparisons together."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """The corrected p-values, in the same order.

    Below the level a, they reject the hypotheses that Holm (1979) rejects with a chance of at most a for any wrong
    rejection: the k-th smallest of n is multiplied by n - k + 1, and none falls below a smaller one's.
    """
    corrected = [0.0] * len(p_values)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = least
    return corrected
