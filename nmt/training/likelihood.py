"""-log p(y | x) of given sentence pairs: of the development set during training, of Table 2's texts after it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from nmt.corpora.pairs import read_pairs, split_words
from nmt.corpora.shortlist import Shortlist
from nmt.model.network import Network
from nmt.system.files import UserError
from nmt.training.batches import by_length, pad

BATCH = 80

Sentences = list[list[int]]


def read_words(texts: Sequence[str]) -> list[list[list[str]]]:
    """The words of both sides of each pair of a tokenized text; pairs with an empty side are skipped.

    Raises UserError if no pair is left.
    """
    pairs = [[split_words(line) for line in pair] for pair in read_pairs(*texts)]
    pairs = [pair for pair in pairs if all(pair)]
    if not pairs:
        raise UserError(f"{texts[0]}: no pair has words on both sides; name another text")
    return pairs


def read_ids(texts: Sequence[str], shortlists: Sequence[Shortlist]) -> tuple[Sentences, Sentences]:
    """Word ids of the source and target sides of the pairs of `read_words`, without EOS. Raises UserError."""
    pairs = read_words(texts)
    source, target = shortlists
    return [source.ids(words) for words, _ in pairs], [target.ids(words) for _, words in pairs]


@torch.no_grad()
def sentence_nll(
    model: Network, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], device: torch.device
) -> list[float]:
    """-log p(target | source) of each pair of id sequences, in nats, in the order given."""
    lengths = [max(len(source), len(target)) for source, target in zip(sources, targets, strict=True)]
    losses = np.zeros(len(lengths))
    for chosen in by_length(lengths, BATCH):
        source = pad([sources[pair] for pair in chosen], device)
        target = pad([targets[pair] for pair in chosen], device)
        losses[chosen] = model(*source, *target).cpu()
    return losses.tolist()
