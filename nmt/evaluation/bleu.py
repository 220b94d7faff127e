"""Corpus BLEU: on tokenized text as multi-bleu.perl computes it, on running text as sacreBLEU does."""

from __future__ import annotations

from collections.abc import Sequence

from sacrebleu.metrics.bleu import BLEU


def tokenized_metric() -> BLEU:
    """Cased, unsmoothed BLEU-4 of tokenized sentences."""
    return BLEU(tokenize="none", smooth_method="none", force=True)


def tokenized_bleu(translations: Sequence[str], references: Sequence[str]) -> tuple[float | None, str]:
    """Cased, unsmoothed BLEU-4 of tokenized sentences in percent, and sacreBLEU's signature.

    Equal to the score of the Moses script multi-bleu.perl, which papers of 2014 report. None without sentences.
    """
    return _score(tokenized_metric(), translations, references)


def detokenized_bleu(translations: Sequence[str], references: Sequence[str]) -> tuple[float | None, str]:
    """sacreBLEU's default score of running text (13a, exponential smoothing) in percent, and its signature.

    None without sentences.
    """
    return _score(BLEU(), translations, references)


def _score(metric: BLEU, translations: Sequence[str], references: Sequence[str]) -> tuple[float | None, str]:
    if not translations:
        metric.corpus_score(["a"], [["a"]])  # only after a score does the signature know the number of references
        return None, str(metric.get_signature())
    score = metric.corpus_score(list(translations), [list(references)])
    return float(score.score), str(metric.get_signature())
