"""Tune the weights of Thot on a sample of the development set by minimum error rate training.

Each round decodes the sample with the current weights and optimizes the weights on the hypotheses of all rounds so far
(`nmt.phrase_based.thot.line_search`). The weights with which the decoder itself had the highest BLEU are kept; these
may be the equal weights of the start.
"""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

from nmt.phrase_based.bleu import Array, bleu, counts
from nmt.phrase_based.text import drawn_pairs
from nmt.phrase_based.thot.decoder import (
    LINKS,
    LONGEST,
    WEIGHTS,
    Decoders,
    Hypothesis,
    add_decoder_arguments,
    assembled,
)
from nmt.phrase_based.thot.line_search import Pool, tune
from nmt.settings.sections import PhraseBased
from nmt.system.errors import UserError, warn
from nmt.system.options import Output
from nmt.system.progress import Progress
from nmt.system.text import read_lines, write_json

FREE = [WEIGHTS.index("words"), WEIGHTS.index("target_phrase_lengths")]  # may be negative
RANDOM_STARTS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_decoder_arguments(parser)
    parser.add_argument(
        "--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"), help="the development set"
    )
    parser.add_argument("--seed", type=int, required=True, help="seed of the random sample and of the starting points")
    parser.add_argument("--output", type=Output, required=True, help="JSON: the weights, and BLEU after each round")


def next_weights(pool: Pool, weights: Array, generator: np.random.Generator) -> Array:
    """The best weights for the pool, searched for from `weights` and from random starting points."""
    starts = [weights, *(generator.uniform(0, 2, len(weights)) for _ in range(RANDOM_STARTS))]
    found = [tune(pool, start, FREE) for start in starts]
    best = max(found, key=lambda one: one[1])[0]
    return best * len(best) / np.abs(best).sum()


def run(arguments: argparse.Namespace) -> None:
    settings: PhraseBased = arguments.settings
    drawn = drawn_pairs(arguments.texts, settings.tune_sentences, arguments.seed)
    pairs = [(source, reference) for source, reference in drawn if len(source) <= LONGEST]
    if long := len(drawn) - len(pairs):
        warn(
            f"{arguments.texts[0]}: sentences of more than {LONGEST} words, which Thot does not translate, are left "
            f"out: {long}"
        )
    if not pairs:
        raise UserError(f"{arguments.texts[0]}: no sentence has at most {LONGEST} words; give another development set")
    sources, references = [source for source, _ in pairs], [reference for _, reference in pairs]
    generator = np.random.default_rng(arguments.seed)
    weights = np.ones(len(WEIGHTS))
    known: list[dict[Hypothesis, list[int]]] = [{} for _ in sources]
    tried: list[tuple[float, Array]] = []
    total = (settings.tune_rounds + 1) * len(sources)
    with (
        assembled(arguments, sources) as folder,
        Decoders(folder, settings, arguments.threads) as decoders,
        Progress("thot_tune", total, "sentences") as progress,
    ):
        for number in range(settings.tune_rounds + 1):
            sums = []
            found = decoders.decode(sources, weights.tolist(), settings.n_best)
            for hypotheses, reference, all_found in zip(found, references, known, strict=True):
                for one in hypotheses or [Hypothesis((), (0.0,) * len(WEIGHTS))]:
                    all_found.setdefault(one, counts(one.words, reference))
                sums.append(counts(hypotheses[0].words if hypotheses else (), reference))
                progress.update(1, BLEU=tried[-1][0] if tried else None)
            score = float(bleu(np.sum(sums, axis=0)))
            tried.append((score, weights))
            print(f"thot_tune: {score:.2f} BLEU after round {number}", file=sys.stderr, flush=True)
            if number < settings.tune_rounds:
                pool = Pool([[(one.scores, own) for one, own in hypotheses.items()] for hypotheses in known])
                weights = next_weights(pool, weights, generator)
    scores = [score for score, _ in tried]
    best = scores.index(max(scores))
    if best == 0:
        warn(f"{arguments.texts[0]}: equal weights are kept, no tuned ones are better ({scores[0]:.2f} BLEU)")
    write_json(
        arguments.output,
        {
            "weights": dict(zip(WEIGHTS, tried[best][1].tolist(), strict=True)),
            "kept": best,
            "bleu": scores,
            "sentences": len(sources),
            "pairs": sum(1 for _ in read_lines(arguments.direct / LINKS)),
            "system": f"Thot {version('sil-thot')}",
        },
    )
