"""Minimum error rate training (Och, 2003): find the weights for which the best-scored hypotheses have the highest BLEU.

Along a direction in weight space the score of a hypothesis is a line, and the best hypothesis of a sentence changes
where lines cross. BLEU is constant between two crossings, so the best weights along the direction are found exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nmt.phrase_based.bleu import COUNTS, Array, bleu

FARTHEST = 5.0  # change of a weight in a step
GAIN = 1e-4  # of BLEU in percent; the search ends when a step gains less


class Pool:
    """The hypotheses of all sentences, from the scores and counts of each; each sentence has at least one.

    `scores` has the shape (sentences, hypotheses, weights) and `counts` (sentences, hypotheses, COUNTS), where
    hypotheses is the largest number of any sentence. `absent`, (sentences, hypotheses), marks the padding.
    """

    def __init__(self, sentences: Sequence[Sequence[tuple[Sequence[float], Sequence[int]]]]) -> None:
        longest = max(map(len, sentences))
        self.scores = np.zeros((len(sentences), longest, len(sentences[0][0][0])))
        self.counts = np.zeros((len(sentences), longest, COUNTS))
        self.absent = np.ones((len(sentences), longest), dtype=bool)
        for number, hypotheses in enumerate(sentences):
            self.scores[number, : len(hypotheses)] = [one for one, _ in hypotheses]
            self.counts[number, : len(hypotheses)] = [one for _, one in hypotheses]
            self.absent[number, : len(hypotheses)] = False

    def bleu(self, weights: Array) -> float:
        """BLEU in percent of the best hypotheses of all sentences."""
        best = np.where(self.absent, -np.inf, self.scores @ weights).argmax(axis=1)
        return float(bleu(self.counts[np.arange(len(best)), best].sum(axis=0)))

    def best_step(self, weights: Array, direction: Array, lowest: float, highest: float) -> tuple[float, float]:
        """The best step from `weights` along `direction`, from `lowest` to `highest`, and its BLEU in percent."""
        slopes = np.where(self.absent, -np.inf, self.scores @ direction)
        levels = np.where(self.absent, -np.inf, self.scores @ weights)
        sentences = np.arange(len(slopes))
        finite = np.where(self.absent, 0, slopes)
        at_lowest = np.where(self.absent, -np.inf, levels + lowest * finite)
        # Of hypotheses that are equally good at `lowest`, the one with the steepest line is the best beyond it.
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
        scores = np.where(np.diff(edges) > 1e-6, scores, -1)  # two crossings at the same place enclose no step
        chosen = int(scores.argmax())
        return float(edges[chosen] + edges[chosen + 1]) / 2, float(scores[chosen])


def tune(pool: Pool, weights: Array, free: Sequence[int]) -> tuple[Array, float]:
    """Change one weight at a time, always the one that gains most, until BLEU stops rising.

    Weights stay at or above zero, except those in `free`. Returns the weights and their BLEU in percent.
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
