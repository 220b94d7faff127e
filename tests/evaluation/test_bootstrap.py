"""The paired bootstrap beside one of the test's own: other resamples, and BLEU from its definition."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
from sacrebleu.significance import PairedTest, Result

from nmt.corpora.languages import TOKENIZED
from nmt.evaluation.bleu import metric
from nmt.evaluation.bootstrap import Comparison, compare, holm, over_seeds

RESAMPLES = 1000
MANY = 10 * RESAMPLES


@cache
def texts() -> dict[str, list[str]]:
    """References, and translations in which each word is another one with a probability."""
    random = np.random.default_rng(4)
    references = [[f"w{word}" for word in random.integers(0, 50, random.integers(5, 25))] for _ in range(120)]
    found = {"reference": [" ".join(words) for words in references]}
    for name, rate in (("baseline", 0.20), ("alike", 0.20), ("better", 0.173), ("best", 0.10)):
        made = [[word if random.random() > rate else "x" for word in words] for words in references]
        found[name] = [" ".join(words) for words in made]
    return found


def statistics(lines: list[str], references: list[str]) -> np.ndarray:
    """Length, length of the reference, and for n of 1 to 4 the n-grams and those that match: (sentences, 10)."""
    rows = []
    for line, reference in zip(lines, references, strict=True):
        words, wanted = line.split(), reference.split()
        row = [len(words), len(wanted)]
        for n in range(1, 5):
            own, other = (Counter(zip(*(side[k:] for k in range(n)), strict=False)) for side in (words, wanted))
            row += [own.total(), (own & other).total()]
        rows.append(row)
    return np.array(rows, dtype=float)


def bleu(sums: np.ndarray) -> np.ndarray:
    """BLEU in percent from sums of `statistics`, (..., 10) -> (...): Papineni et al. (2002), without smoothing."""
    length, wanted = sums[..., 0], sums[..., 1]
    precisions = sums[..., 3::2] / sums[..., 2::2]
    return 100 * np.exp(np.minimum(0, 1 - wanted / length) + np.log(precisions).mean(axis=-1))


@cache
def expected(system: str) -> tuple[float, np.ndarray]:
    """The difference to the baseline, and those of MANY resamples."""
    of = [statistics(texts()[name], texts()["reference"]) for name in (system, "baseline")]
    drawn = np.random.default_rng(99).integers(0, len(of[0]), (MANY, len(of[0])))
    own, other = (bleu(one[drawn].sum(axis=1)) for one in of)
    return float(bleu(of[0].sum(axis=0)) - bleu(of[1].sum(axis=0))), own - other


def compared(*systems: str, seed: int = 7) -> tuple[str, list[Comparison]]:
    chosen = [[texts()[name]] for name in systems]
    return compare([texts()["baseline"]], chosen, texts()["reference"], RESAMPLES, seed)


@pytest.mark.parametrize("system", ["alike", "better", "best"])
def test_difference_interval_and_p_value(system: str) -> None:
    _, [found] = compared(system)
    difference, resampled = expected(system)
    assert found.difference == pytest.approx(difference, abs=1e-6)
    assert found.bleu - found.baseline_bleu == found.difference
    p_value = np.mean(np.abs(resampled - resampled.mean()) >= abs(difference))
    error = np.sqrt(p_value * (1 - p_value) * (1 / RESAMPLES + 1 / MANY))
    assert found.p_value == pytest.approx(p_value, abs=4 * error + 2 / RESAMPLES)
    # Of RESAMPLES values 2.5 % +- 4 standard errors lie below the lower end, and as many above the upper end.
    spread = 100 * 4 * np.sqrt(0.025 * 0.975 * (1 / RESAMPLES + 1 / MANY))
    for end, percent in ((found.lower, 2.5), (found.upper, 97.5)):
        low, high = np.percentile(resampled, [max(0, percent - spread), min(100, percent + spread)])
        assert low <= end <= high


def test_a_difference_that_only_half_a_p_value_makes_significant() -> None:
    _, [found] = compared("better")
    named = [(name, texts()[name]) for name in ("baseline", "better")]
    _, scores = PairedTest(named, {"BLEU": metric(TOKENIZED)}, [texts()["reference"]], "bs", RESAMPLES)()
    half = scores["BLEU"][1]
    assert isinstance(half, Result)
    assert half.p_value is not None
    assert half.p_value < 0.05 < found.p_value
    assert found.p_value == pytest.approx(2 * half.p_value, rel=0.3)


def test_the_resamples_are_those_of_sacrebleu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same seed gives the same indices, so that its signature says how ours are drawn."""
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    named = [(name, texts()[name]) for name in ("baseline", "best")]
    signatures, scores = PairedTest(named, {"BLEU": metric(TOKENIZED)}, [texts()["reference"]], "bs", RESAMPLES)()
    signature, [best] = compared("best")
    assert signature == str(signatures["BLEU"])
    assert best.bleu == scores["BLEU"][1].score
    drawn = np.random.default_rng(7).choice(120, size=(RESAMPLES, 120), replace=True)
    own, other = (
        bleu(statistics(texts()[name], texts()["reference"])[drawn].sum(axis=1)) for name in ("best", "baseline")
    )
    assert [best.lower, best.upper] == pytest.approx(np.percentile(own - other, [2.5, 97.5]).tolist(), abs=1e-4)


def test_equal_systems_differ_by_chance_alone() -> None:
    _, [same, better] = compared("baseline", "better")
    assert same[2:] == (0.0, 0.0, 0.0, 1.0)
    assert compared("better")[1] == [better]


@pytest.mark.parametrize("baseline", [["f g h i j"], ["f g h i j", "a b c d f"]])
def test_one_sentence_shows_nothing(baseline: list[str]) -> None:
    """Nor do several seeds on it."""
    reference = ["a b c d e"]
    _, [found] = compare([[line] for line in baseline], [[reference]], reference, 200, 1)
    assert (found.difference > 50, found.p_value) == (True, 1)


def test_another_seed_draws_other_resamples() -> None:
    assert compared("better", seed=0)[1] == compared("better", seed=0)[1] != compared("better")[1]


def test_each_p_value_is_multiplied_by_the_number_of_those_not_below_it() -> None:
    """4 x 0.005, 3 x 0.01, 2 x 0.03; 0.04 x 1 would be below the one before."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_no_p_value_is_above_one_and_one_alone_stays() -> None:
    assert holm([0.9, 0.6, 0.7]) == [1.0, 1.0, 1.0]
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


def significant(effect: float, simulations: int, *, seeds: int = 5, spread: float = 0.05) -> tuple[float, float]:
    """How often two systems differ with p < 0.05: over sentences and seeds, and over sentences alone.

    Each sentence is right with a probability that its difficulty, the system and the seed decide; `spread` is the
    standard deviation between seeds, `effect` the true difference of the systems.
    """
    random, sentences, resamples = np.random.default_rng(5), 200, 200
    found = np.zeros(2)
    for _ in range(simulations):
        difficulty = random.normal(0, 0.25, sentences)
        weights = random.multinomial(sentences, [1 / sentences] * sentences, resamples) / sentences
        differences, measured = np.zeros((2, resamples)), 0.0
        for sign, quality in ((-1, 0.6), (1, 0.6 + effect)):
            chances = np.clip(random.normal(quality, spread, (seeds, 1)) - difficulty, 0, 1)
            right = (random.random((seeds, sentences)) < chances).astype(float)
            scores = right.mean(axis=1)
            measured += sign * scores.mean()
            differences[0] += sign * over_seeds(scores, right @ weights.T, random)
            differences[1] += sign * (right @ weights.T).mean(axis=0)
        centred = np.abs(differences - differences.mean(axis=1, keepdims=True))
        found += (centred >= abs(measured)).mean(axis=1) < 0.05
    return found[0] / simulations, found[1] / simulations


def test_seeds_that_differ_are_not_taken_for_systems_that_differ() -> None:
    """Where there is no effect, few comparisons are significant; where it is large, most are."""
    alike, without_seeds = significant(0.0, 400)
    assert alike < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert without_seeds > 0.2
    large, _ = significant(0.2, 100)
    assert large > 0.9


def test_one_seed_leaves_the_resamples_as_they_are() -> None:
    scores = np.random.default_rng(1).random((1, 50))
    assert (over_seeds(scores.mean(axis=1), scores, np.random.default_rng(2)) == scores[0]).all()


def test_the_mean_over_seeds_varies_as_that_of_independent_trainings() -> None:
    random = np.random.default_rng(3)
    measured = random.normal(20, 1, 6)
    found = over_seeds(measured, np.repeat(measured[:, None], 100_000, axis=1), random)
    assert found.mean() == pytest.approx(measured.mean(), abs=0.01)
    assert found.var() == pytest.approx(measured.var(ddof=1) / 6, rel=0.02)


def test_a_system_with_seeds_has_their_mean_and_a_wider_interval() -> None:
    chosen = [texts()[name] for name in ("alike", "better", "best")]
    alone = [compared(name)[1][0] for name in ("alike", "better", "best")]
    _, [found] = compare([texts()["baseline"]], [chosen], texts()["reference"], RESAMPLES, 7)
    assert found.bleu == pytest.approx(np.mean([one.bleu for one in alone]))
    assert found.difference == pytest.approx(found.bleu - found.baseline_bleu)
    assert found.upper - found.lower > max(one.upper - one.lower for one in alone)
