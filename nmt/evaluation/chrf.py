"""chrF of single sentences: what a translation shares with its reference, in sequences of up to six characters."""

from __future__ import annotations

from sacrebleu.metrics.chrf import CHRF

METRIC = CHRF()


def sentence_chrf(translation: str, reference: str) -> float:
    """The score in percent; the positions of spaces do not matter."""
    return float(METRIC.sentence_score(translation, [reference]).score)
