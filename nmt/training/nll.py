"""Average negative log-likelihood of sentence pairs, Table 2's last columns: nats a sentence, EOS counted."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import torch

from nmt.corpora.pairs import read_pairs, split_words
from nmt.corpora.shortlist import Shortlist
from nmt.device import choose_device
from nmt.files import UserError, write_json
from nmt.model.network import Network, load_with_shortlists
from nmt.training.batches import pad

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
    order = sorted(range(len(sources)), key=lambda pair: (len(targets[pair]), len(sources[pair])))
    losses = np.zeros(len(order))
    for first in range(0, len(order), BATCH):
        chosen = order[first : first + BATCH]
        source = pad([sources[pair] for pair in chosen], device)
        target = pad([targets[pair] for pair in chosen], device)
        losses[chosen] = model(*source, *target).cpu()
    return losses.tolist()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help="a trained model")
    parser.add_argument("--shortlists", required=True, nargs=2, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--texts", required=True, nargs=2, metavar=("SOURCE", "TARGET"), help="tokenized text")
    parser.add_argument("--sample", type=int, help="score so many pairs, drawn with the seed (all)")
    parser.add_argument("--seed", type=int, default=1234, help="of the draw (1234)")
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="CPU threads (all)")
    parser.add_argument("--output", required=True, help="JSON file of the figures")


def run(arguments: argparse.Namespace) -> None:
    torch.set_num_threads(arguments.threads)
    device = choose_device(arguments.device)
    model, *shortlists = load_with_shortlists(arguments.model, arguments.shortlists, device)
    sources, targets = read_ids(arguments.texts, shortlists)
    if arguments.sample is not None and arguments.sample < len(sources):
        drawn = np.random.default_rng(arguments.seed).choice(len(sources), arguments.sample, replace=False)
        drawn.sort()
        sources, targets = [sources[pair] for pair in drawn], [targets[pair] for pair in drawn]
    losses = sentence_nll(model, sources, targets, device)
    words = sum(len(target) + 1 for target in targets)
    figures = {"sentences": len(losses), "words": words, "nll": float(np.mean(losses)), "per_sentence": losses}
    write_json(arguments.output, figures)
