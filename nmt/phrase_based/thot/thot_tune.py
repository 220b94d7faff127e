"""Tune the weights of the phrase-based system on a sample of the development set: minimum error rate training.

In each round the sample is decoded with the weights found so far, and new ones are found for all hypotheses of all
rounds together (nmt.phrase_based.thot.line_search). Kept are the weights under which the decoder itself had the highest
BLEU, the equal weights of the beginning among them.
"""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

from nmt.phrase_based.text import drawn_pairs
from nmt.phrase_based.thot.decoder import (
    WEIGHTS,
    Decoders,
    Hypothesis,
    add_decoder_arguments,
    assembled,
    search_of,
)
from nmt.phrase_based.thot.line_search import Array, Pool, bleu, counts, tune
from nmt.system.files import UserError, warn, write_json
from nmt.system.progress import Progress

FREE = [WEIGHTS.index("words"), WEIGHTS.index("target_phrase_lengths")]  # may be negative
RANDOM_STARTS = 3
Scored = tuple[tuple[float, ...], list[int]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `python -m nmt mert`."""
    add_decoder_arguments(parser)
    parser.add_argument(
        "--texts",
        nargs=2,
        type=Path,
        required=True,
        metavar=("SOURCE", "TARGET"),
        help="the development set",
    )
    parser.add_argument("--sentences", type=int, default=1000, help="how many are drawn by lot")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--n-best", type=int, default=100, help="hypotheses of a sentence in a round")
    parser.add_argument("--seed", type=int, default=1234, help="of the lot")
    parser.add_argument("--output", type=Path, required=True, help="JSON")


def sample(arguments: argparse.Namespace) -> tuple[list[list[str]], list[list[str]]]:
    """Sources and references of the sentences that are tuned on, in the set's order."""
    pairs = drawn_pairs(arguments.texts, arguments.sentences, arguments.seed)
    return [source for source, _ in pairs], [reference for _, reference in pairs]


def next_weights(pool: Pool, weights: Array, generator: np.random.Generator) -> Array:
    """The best weights for the pool: from `weights` on, and from some drawn by lot."""
    starts = [weights, *(generator.uniform(0, 2, len(weights)) for _ in range(RANDOM_STARTS))]
    found = [tune(pool, start, FREE) for start in starts]
    best = max(found, key=lambda one: one[1])[0]
    return best * len(best) / np.abs(best).sum()


def run(arguments: argparse.Namespace) -> None:
    """Decode and tune by turns."""
    if arguments.rounds < 1 or arguments.sentences < 1 or arguments.n_best < 2:
        raise UserError("--rounds, --sentences, --n-best: give 1 or more, of the hypotheses 2")
    sources, references = sample(arguments)
    generator = np.random.default_rng(arguments.seed)
    weights = np.ones(len(WEIGHTS))
    known: list[dict[Hypothesis, list[int]]] = [{} for _ in sources]
    tried: list[tuple[float, Array]] = []
    total = (arguments.rounds + 1) * len(sources)
    with (
        assembled(arguments, sources) as folder,
        Decoders(folder, search_of(arguments), arguments.threads) as decoders,
        Progress("mert", total, "sentences") as progress,
    ):
        for number in range(arguments.rounds + 1):
            sums = []
            found = decoders.decode(sources, weights.tolist(), arguments.n_best)
            for hypotheses, reference, pool in zip(found, references, known, strict=True):
                for one in hypotheses or [Hypothesis((), (0.0,) * len(WEIGHTS))]:
                    pool.setdefault(one, counts(one.words, reference))
                sums.append(counts(hypotheses[0].words if hypotheses else (), reference))
                progress.update(1, BLEU=tried[-1][0] if tried else None)
            score = float(bleu(np.sum(sums, axis=0)))
            tried.append((score, weights))
            print(f"mert: {score:.2f} BLEU after round {number}", file=sys.stderr, flush=True)
            if number < arguments.rounds:
                scored: list[list[Scored]] = [[(one.scores, found) for one, found in pool.items()] for pool in known]
                weights = next_weights(Pool.of(scored), weights, generator)
    scores = [score for score, _ in tried]
    best = scores.index(max(scores))
    if best == 0:
        warn(f"{arguments.texts[0]}: no tuned weights beat equal ones ({scores[0]:.2f} BLEU); equal ones are kept")
    write_json(
        arguments.output,
        {
            "weights": dict(zip(WEIGHTS, tried[best][1].tolist(), strict=True)),
            "kept": best,
            "bleu": scores,
            "sentences": len(sources),
            "system": f"Thot {version('sil-thot')}",
        },
    )
