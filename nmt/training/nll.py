"""Average negative log-likelihood of sentence pairs for Table 2, in nats per sentence, EOS included."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np

from nmt.corpora.pairs import LONGEST
from nmt.system.device import prepare
from nmt.system.files import UserError, warn, write_json
from nmt.system.options import Output, add_device_arguments
from nmt.trained import load_trained
from nmt.training.likelihood import read_ids, sentence_nll


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, type=Path, metavar="DIR", help="folder that the step train wrote")
    parser.add_argument(
        "--texts",
        required=True,
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help=f"tokenized text, one sentence per line; at most {LONGEST} words of a line are used",
    )
    parser.add_argument(
        "--maximum-length",
        type=int,
        default=math.inf,
        metavar="WORDS",
        help="score only pairs of at most this many words per side, as in the model's training (default: all)",
    )
    parser.add_argument(
        "--sample", type=int, metavar="PAIRS", help="score only a random sample of this many pairs; needs --seed"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the sample")
    parser.add_argument(
        "--output",
        type=Output,
        required=True,
        metavar="FILE",
        help="JSON with the numbers of pairs, of short enough pairs, and of scored sentences and words, and the NLL in "
        "nats: its mean and that of each sentence",
    )
    add_device_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    if arguments.sample is not None and arguments.seed is None:
        raise UserError("--seed: missing; a sample needs one")
    if arguments.sample == 0:
        raise UserError("--sample 0: must be 1 or more")
    device = prepare(arguments)
    trained = load_trained(arguments.model, device)
    sources, targets = read_ids(arguments.texts, (trained.source, trained.target))
    pairs, longest = len(sources), arguments.maximum_length
    short = [pair for pair in zip(sources, targets, strict=True) if max(map(len, pair)) <= longest]
    if not short:
        raise UserError(f"{arguments.texts[0]}: no pair has at most {longest} words per side; raise --maximum-length")
    scored = short
    if arguments.sample is not None and arguments.sample < len(short):
        drawn = np.random.default_rng(arguments.seed).choice(len(short), arguments.sample, replace=False)
        scored = [short[number] for number in sorted(drawn)]
    if long := sum(max(map(len, pair)) > LONGEST for pair in scored):
        warn(f"{arguments.texts[0]}: only the first {LONGEST} words per side are used, in {long} of the pairs")
    sources, targets = ([side[:LONGEST] for side in sides] for sides in zip(*scored, strict=True))
    losses = sentence_nll(trained.model, sources, targets, device)
    figures = {
        "pairs": pairs,
        "short_pairs": len(short),
        "sentences": len(losses),
        "words": sum(len(target) + 1 for target in targets),
        "nll": float(np.mean(losses)),
        "per_sentence": losses,
    }
    write_json(arguments.output, figures)
