"""Average negative log-likelihood of sentence pairs, Table 2's last columns: nats a sentence, EOS counted."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import torch

from nmt.corpora.pairs import read_pairs, split_words
from nmt.corpora.shortlist import Shortlist
from nmt.device import add_arguments as add_device_arguments
from nmt.device import prepare
from nmt.files import UserError, write_json
from nmt.model.network import Network
from nmt.model.translator import load_translator
from nmt.training.batches import by_length, pad

BATCH = 80

Sentences = list[list[int]]


def read_ids(texts: Sequence[str], shortlists: Sequence[Shortlist]) -> tuple[Sentences, Sentences]:
    """Word ids of both sides of a tokenized text, without EOS, less the pairs with an empty side."""
    pairs = [[split_words(line) for line in pair] for pair in read_pairs(*texts)]
    pairs = [pair for pair in pairs if all(pair)]
    if not pairs:
        raise UserError(f"{texts[0]}: no pair with words on both sides; name a text that has some")
    source, target = shortlists
    return [source.ids(words) for words, _ in pairs], [target.ids(words) for _, words in pairs]


@torch.no_grad()
def sentence_nll(
    model: Network, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], device: torch.device
) -> list[float]:
    """-log p(target | source) of each pair of ids, in their order."""
    lengths = [max(len(source), len(target)) for source, target in zip(sources, targets, strict=True)]
    losses = np.zeros(len(lengths))
    for chosen in by_length(lengths, BATCH):
        source = pad([sources[pair] for pair in chosen], device)
        target = pad([targets[pair] for pair in chosen], device)
        losses[chosen] = model(*source, *target).cpu()
    return losses.tolist()


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
