"""Effects of chance on BLEU: bootstrap intervals, paired tests of differences, and Holm's correction for many tests."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import _bootstrap_resample

from nmt.corpora.languages import TOKENIZED
from nmt.evaluation.bleu import metric

INTERVAL = (2.5, 97.5)  # percentiles of the resampled values: 95 % of them lie between


Seeds = Sequence[Sequence[str]]  # the translations of one system, by the training of each seed


class Comparison(NamedTuple):
    """A system beside its baseline: BLEU and differences in percent, with the ends of a 95 % interval.

    Where a system has several seeds, BLEU is the mean of theirs.
    """

    bleu: float
    baseline_bleu: float
    difference: float
    lower: float
    upper: float
    p_value: float


def compare(
    baseline: Seeds,
    systems: Sequence[Seeds],
    references: Sequence[str],
    resamples: int,
    seed: int,
    tokenizer: str = TOKENIZED,
) -> tuple[str, list[Comparison]]:
    """sacreBLEU's signature, and the comparison of each system with the baseline on the same resamples."""
    bleu, generator = metric(tokenizer), np.random.default_rng(seed)
    scores, resampled = [], []
    for of_seeds in (baseline, *systems):
        score, found = _resampled(bleu, of_seeds, references, resamples, seed, generator)
        scores.append(score)
        resampled.append(found)
    comparisons = []
    for score, drawn in zip(scores[1:], resampled[1:], strict=True):
        difference, differences = score - scores[0], drawn - resampled[0]
        as_far = np.abs(differences - differences.mean()) >= abs(difference)
        # All resamples of a single sentence are alike, and say nothing about chance.
        p_value = (1 + int(as_far.sum())) / (resamples + 1) if len(references) > 1 else 1.0
        lower, upper = np.percentile(differences, INTERVAL)
        comparisons.append(Comparison(score, scores[0], difference, float(lower), float(upper), p_value))
    signature = bleu.get_signature()
    signature.update("seed", str(seed))
    signature.update("bs", resamples)
    return str(signature), comparisons


def interval(
    translations: Seeds, references: Sequence[str], resamples: int, seed: int, tokenizer: str = TOKENIZED
) -> tuple[float, float]:
    """The ends of a 95 % interval of BLEU in percent, over resamples of sentences and seeds; there is one of each.

    With several seeds, a resample of few sentences may lie below 0 or above 100, outside the range of BLEU.
    """
    generator = np.random.default_rng(seed)
    _, found = _resampled(metric(tokenizer), translations, references, resamples, seed, generator)
    lower, upper = np.percentile(found, INTERVAL).clip(0, 100)
    return float(lower), float(upper)


def over_seeds(
    measured: NDArray[np.floating], resampled: NDArray[np.floating], generator: np.random.Generator
) -> NDArray[np.floating]:
    """The mean score over seeds, of each resample of the sentences and of the seeds: (resamples,).

    `measured` are the scores of the seeds (seeds,), `resampled` those of each resample (seeds, resamples). Each mean is
    moved by as much as that of n - 1 seeds, drawn with replacement, differs from that of all n. n - 1 draws are used
    because n draws would understate the variance of the mean of n independent trainings by the factor (n - 1) / n (Rao
    and Wu, 1988). The noise of one seed's translations of single sentences is counted twice, so intervals are
    conservative. One seed says nothing about others, so its scores are then used as they are.
    """
    seeds, resamples = resampled.shape
    if seeds == 1:
        return resampled[0]
    drawn = generator.integers(seeds, size=(seeds - 1, resamples))
    return resampled.mean(axis=0) + measured[drawn].mean(axis=0) - measured.mean()


def _resampled(
    bleu: BLEU,
    translations: Seeds,
    references: Sequence[str],
    resamples: int,
    seed: int,
    generator: np.random.Generator,
) -> tuple[float, NDArray[np.floating]]:
    """The mean score over seeds, and that of each resample; the same resamples of the sentences for the same seed."""
    os.environ["SACREBLEU_SEED"] = str(seed)  # sacreBLEU has no other way to set the seed
    measured, resampled = [], []
    for lines in translations:
        sentences = bleu._extract_corpus_statistics(lines, [references])
        _, found = _bootstrap_resample(sentences, bleu, resamples)
        measured.append(bleu._aggregate_and_compute(sentences).score)
        resampled.append([one.score for one in found])
    scores = np.array(measured)
    return float(scores.mean()), over_seeds(scores, np.array(resampled), generator)


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
