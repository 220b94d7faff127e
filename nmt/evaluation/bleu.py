"""Corpus BLEU: as multi-bleu.perl counts it on tokenized text, and as sacreBLEU does on running text."""

from __future__ import annotations

from collections.abc import Sequence

from sacrebleu.metrics.bleu import BLEU


def tokenized_metric() -> BLEU:
    """BLEU-4 of tokenized, cased sentences, not smoothed."""
    return BLEU(tokenize="none", smooth_method="none", force=True)


def tokenized_bleu(translations: Sequence[str], references: Sequence[str]) -> tuple[float | None, str]:
    """Cased, unsmoothed BLEU-4 in percent of tokenized sentences, and sacreBLEU's signature of it.

    Equal to the Moses script multi-bleu.perl, with which the paper's Table 1 was made. None without sentences.
    """
    return _score(tokenized_metric(), translations, references)


def detokenized_bleu(translations: Sequence[str], references: Sequence[str]) -> tuple[float | None, str]:
    """sacreBLEU's default (13a, exponential smoothing) in percent of running text, and its signature.

    None without sentences.
    """
    return _score(BLEU(), translations, references)


def _score(metric: BLEU, translations: Sequence[str], references: Sequence[str]) -> tuple[float | None, str]:
    if not translations:
        metric.corpus_score(["a"], [["a"]])  # the signature knows the number of references only after a score
        return None, str(metric.get_signature())
    score = metric.corpus_score(list(translations), [list(references)])
    return float(score.score), str(metric.get_signature())
