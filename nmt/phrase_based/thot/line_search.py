"""Minimum error rate training (Och, 2003): the weights under which the best of given hypotheses have the highest BLEU.

Along one direction the score of a hypothesis is a line, and the best hypothesis of a sentence changes where lines
cross. Between two crossings BLEU is constant, so that the best weights of the direction are found exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ORDERS = 4
COUNTS = 2 * ORDERS + 2  # matches and n-grams of each order, words of hypothesis and reference
FARTHEST = 5.0  # of a weight from where it was
GAIN = 1e-4  # of BLEU in percent, below which the search ends
Array = NDArray[np.float64]


def counts(words: Sequence[str], reference: Sequence[str]) -> list[int]:
    """What BLEU counts of one sentence."""
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
    """BLEU in percent, not smoothed, of summed counts; shape (..., COUNTS) -> (...)."""
    matches, totals = sums[..., :ORDERS], sums[..., ORDERS : 2 * ORDERS]
    length, reference = np.maximum(sums[..., -2], 1), sums[..., -1]
    with np.errstate(divide="ignore"):
        precision = np.log(matches / np.maximum(totals, 1)).mean(axis=-1)
    result: Array = 100 * np.exp(precision + np.minimum(0, 1 - reference / length))
    return result


@dataclass(frozen=True)
class Pool:
    """Hypotheses of every sentence: scores (sentences, hypotheses, weights), counts (sentences, hypotheses, COUNTS).

    Sentences have as many rows as the one with most hypotheses; `absent` marks those that stand for none.
    """

    scores: Array
    counts: Array
    absent: NDArray[np.bool_]

    @classmethod
    def of(cls, sentences: Sequence[Sequence[tuple[Sequence[float], Sequence[int]]]]) -> Pool:
        """A pool of the scores and counts of each hypothesis, one or more a sentence."""
        longest = max(map(len, sentences))
        scores = np.zeros((len(sentences), longest, len(sentences[0][0][0])))
        found = np.zeros((len(sentences), longest, COUNTS))
        absent = np.ones((len(sentences), longest), dtype=bool)
        for number, hypotheses in enumerate(sentences):
            scores[number, : len(hypotheses)] = [one for one, _ in hypotheses]
            found[number, : len(hypotheses)] = [one for _, one in hypotheses]
            absent[number, : len(hypotheses)] = False
        return cls(scores, found, absent)

    def bleu(self, weights: Array) -> float:
        """BLEU of each sentence's best hypothesis."""
        best = np.where(self.absent, -np.inf, self.scores @ weights).argmax(axis=1)
        return float(bleu(self.counts[np.arange(len(best)), best].sum(axis=0)))

    def best_step(self, weights: Array, direction: Array, lowest: float, highest: float) -> tuple[float, float]:
        """How far to go from `weights` along `direction`, within the bounds, and BLEU in percent there."""
        slopes = np.where(self.absent, -np.inf, self.scores @ direction)
        levels = np.where(self.absent, -np.inf, self.scores @ weights)
        sentences = np.arange(len(slopes))
        finite = np.where(self.absent, 0, slopes)
        at_lowest = np.where(self.absent, -np.inf, levels + lowest * finite)
        # of the best ones where the search begins the steepest, which is the best just after
        ties = at_lowest >= at_lowest.max(axis=1, keepdims=True) - 1e-9
        best = np.where(ties, slopes, -np.inf).argmax(axis=1)
        sums = self.counts[sentences, best].sum(axis=0)
        crossings, changes = [np.empty(0)], [np.empty((0, COUNTS))]
        while len(sentences):
            rows = np.arange(len(sentences))
            rise = slopes[sentences] - slopes[sentences, best][:, None]
            fall = levels[sentences, best][:, None] - levels[sentences]
            with np.errstate(divide="ignore", invalid="ignore"):
                where = np.where(rise > 1e-12, fall / rise, np.inf)
            following = where.argmin(axis=1)
            goes_on = where[rows, following] < highest
            sentences, best, following = sentences[goes_on], best[goes_on], following[goes_on]
            crossings.append(where[rows[goes_on], following])
            changes.append(self.counts[sentences, following] - self.counts[sentences, best])
            best = following
        places = np.concatenate(crossings)
        order = places.argsort(kind="stable")
        scores = bleu(sums + np.vstack([np.zeros(COUNTS), np.cumsum(np.concatenate(changes)[order], axis=0)]))
        edges = np.concatenate([[lowest], places[order], [highest]])
        scores = np.where(np.diff(edges) > 1e-6, scores, -1)  # no room between two crossings at one place
        chosen = int(scores.argmax())
        return float(edges[chosen] + edges[chosen + 1]) / 2, float(scores[chosen])


def tune(pool: Pool, weights: Array, free: Sequence[int]) -> tuple[Array, float]:
    """Go along one weight at a time, the best of all each time, until BLEU rises no more.

    Weights stay at or above zero, but those in `free`. Returns the weights and their BLEU in percent.
    """
    score = pool.bleu(weights)
    while True:
        steps = []
        for index in range(len(weights)):
            direction = np.zeros(len(weights))
            direction[index] = 1.0
            lowest = -FARTHEST if index in free else -float(min(weights[index], FARTHEST))
            step, found = pool.best_step(weights, direction, lowest, FARTHEST)
            steps.append((found, step, index))
        found, step, index = max(steps)
        if found < score + GAIN:
            return weights, score
        weights = weights.copy()
        weights[index] += step
        score = found
