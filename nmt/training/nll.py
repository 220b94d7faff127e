"""Average negative log-likelihood of sentence pairs for Table 2, in nats a sentence, EOS included."""

from __future__ import annotations

import argparse

import numpy as np

from nmt.system.device import prepare
from nmt.system.files import UserError, write_json
from nmt.system.options import add_device_arguments
from nmt.trained import load_trained
from nmt.training.likelihood import read_ids, sentence_nll


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, metavar="DIR", help="folder that the step train wrote")
    parser.add_argument(
        "--texts", required=True, nargs=2, metavar=("SOURCE", "TARGET"), help="tokenized text, one sentence a line"
    )
    parser.add_argument(
        "--sample", type=int, metavar="PAIRS", help="score only a random sample of this many pairs; needs --seed"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the sample")
    parser.add_argument(
        "--output",
        required=True,
        metavar="FILE",
        help="JSON with the numbers of sentences and words, and the nats: their mean, and those of each pair",
    )
    add_device_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    if arguments.sample is not None and arguments.seed is None:
        raise UserError("--seed: missing; a sample needs one")
    device = prepare(arguments)
    trained = load_trained(arguments.model, device)
    sources, targets = read_ids(arguments.texts, (trained.source, trained.target))
    if arguments.sample is not None and arguments.sample < len(sources):
        drawn = np.random.default_rng(arguments.seed).choice(len(sources), arguments.sample, replace=False)
        drawn.sort()
        sources, targets = [sources[pair] for pair in drawn], [targets[pair] for pair in drawn]
    losses = sentence_nll(trained.model, sources, targets, device)
    words = sum(len(target) + 1 for target in targets)
    figures = {"sentences": len(losses), "words": words, "nll": float(np.mean(losses)), "per_sentence": losses}
    write_json(arguments.output, figures)
