"""BLEU is that of sacreBLEU, the exact step along a direction is the best of a grid, and tuning never loses BLEU."""

from __future__ import annotations

import random

import numpy as np
import pytest

from nmt.evaluation.bleu import corpus_bleu
from nmt.phrase_based.bleu import bleu, counts
from nmt.phrase_based.thot.line_search import Pool, tune


def some_pool(seed: int) -> Pool:
    """Random numbers of hypotheses with random words and scores."""
    generator = random.Random(seed)
    sentences = []
    for _ in range(8):
        reference = generator.choices("abcdef", k=generator.randint(5, 12))
        hypotheses = []
        for _ in range(generator.randint(1, 12)):
            words = [generator.choice("abcdef") if generator.random() < 0.3 else word for word in reference]
            words = words[: generator.randint(4, len(words))]
            hypotheses.append(([generator.gauss(-5, 3) for _ in range(3)], counts(words, reference)))
        sentences.append(hypotheses)
    return Pool(sentences)


def test_bleu_is_sacrebleus() -> None:
    translations, references = ["a b c d e", "b c d e e"], ["a b c d f", "x b c d e e e"]
    sums = np.sum([counts(one.split(), other.split()) for one, other in zip(translations, references, strict=True)], 0)
    assert float(bleu(sums)) == pytest.approx(corpus_bleu(translations, references)[0])
    assert float(bleu(np.array(counts(["a"], ["b"]), dtype=float))) == 0


@pytest.mark.parametrize("seed", range(10))
def test_the_step_is_the_best_of_many(seed: int) -> None:
    pool, weights = some_pool(seed), np.ones(3)
    for direction in np.eye(3):
        step, found = pool.best_step(weights, direction, -1.0, 5.0)
        grid = max(pool.bleu(weights + there * direction) for there in np.linspace(-1, 5, 3001))
        assert -1 <= step <= 5
        assert found == pytest.approx(pool.bleu(weights + step * direction))
        assert found >= grid - 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_tuning_never_loses_and_keeps_to_its_bounds(seed: int) -> None:
    pool = some_pool(seed)
    weights, found = tune(pool, np.ones(3), free=[0])
    assert found >= pool.bleu(np.ones(3))
    assert found == pytest.approx(pool.bleu(weights))
    assert (weights[1:] >= 0).all()
