"""Average negative log-likelihood of sentence pairs, Table 2's last columns: nats a sentence, EOS counted."""

from __future__ import annotations

import argparse

import numpy as np

from nmt.system.device import prepare
from nmt.system.files import write_json
from nmt.system.options import add_device_arguments
from nmt.trained import load_translator
from nmt.training.likelihood import read_ids, sentence_nll


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, metavar="DIR", help="the folder that the step train wrote")
    parser.add_argument(
        "--texts", required=True, nargs=2, metavar=("SOURCE", "TARGET"), help="tokenized text, one sentence a line"
    )
    parser.add_argument("--sample", type=int, metavar="PAIRS", help="take so many pairs, drawn with the seed (all)")
    parser.add_argument("--seed", type=int, default=1234, help="seed of the draw (1234)")
    parser.add_argument(
        "--output", required=True, metavar="FILE", help="JSON of sentences, words, and nats on average and of each pair"
    )
    add_device_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    device = prepare(arguments)
    translator = load_translator(arguments.model, device)
    sources, targets = read_ids(arguments.texts, (translator.source, translator.target))
    if arguments.sample is not None and arguments.sample < len(sources):
        drawn = np.random.default_rng(arguments.seed).choice(len(sources), arguments.sample, replace=False)
        drawn.sort()
        sources, targets = [sources[pair] for pair in drawn], [targets[pair] for pair in drawn]
    losses = sentence_nll(translator.model, sources, targets, device)
    words = sum(len(target) + 1 for target in targets)
    figures = {"sentences": len(losses), "words": words, "nll": float(np.mean(losses)), "per_sentence": losses}
    write_json(arguments.output, figures)
