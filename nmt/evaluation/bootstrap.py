"""Paired bootstrap of BLEU, as sacreBLEU computes it.

The p-value is the share of resamples whose difference lies at least as far from the mean difference of the resamples
as the measured difference lies from zero.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from sacrebleu.significance import PairedTest, Result

from nmt.evaluation.bleu import tokenized_metric


def compare(
    baseline: Sequence[str], systems: Sequence[Sequence[str]], references: Sequence[str], resamples: int, seed: int
) -> tuple[str, list[tuple[float, float, float]]]:
    """sacreBLEU's signature and, for each system, its BLEU in percent, the baseline's and the p-value."""
    os.environ["SACREBLEU_SEED"] = str(seed)  # sacreBLEU takes the seed in no other way
    named = [(str(index), lines) for index, lines in enumerate([baseline, *systems])]
    test = PairedTest(named, {"BLEU": tokenized_metric()}, [references], "bs", resamples)
    signatures, scores = test()
    results = [result for result in scores["BLEU"] if isinstance(result, Result)]
    found = [(result.score, results[0].score, result.p_value or 1.0) for result in results[1:]]
    # sacreBLEU gives a difference of zero the lowest p
    return str(signatures["BLEU"]), [(own, other, 1.0 if own == other else chance) for own, other, chance in found]
