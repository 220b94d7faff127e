"""-log p(y | x) of given sentence pairs: those of the development set during training, and of Table 2 afterwards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from nmt.corpora.padding import by_length, pad
from nmt.corpora.pairs import read_pairs, split_words
from nmt.corpora.shortlist import Shortlist
from nmt.model.network import Network
from nmt.system.files import UserError

BATCH = 80

Sentences = list[list[int]]


def read_words(texts: Sequence[str]) -> list[list[list[str]]]:
    """The words on both sides of each pair of a tokenized text; pairs with an empty side are skipped.

    Raises UserError if no pair is left.
    """
    return _whole([[split_words(line) for line in pair] for pair in read_pairs(*texts)], texts)


def read_ids(texts: Sequence[str], shortlists: Sequence[Shortlist]) -> tuple[Sentences, Sentences]:
    """The ids, without EOS, of both sides of a tokenized text; pairs with an empty side are skipped.

    Raises UserError if no pair is left.
    """
    pairs = read_words(texts)
    sides = (one.split_lines([pair[side] for pair in pairs], texts[side]) for side, one in enumerate(shortlists))
    split = _whole([list(pair) for pair in zip(*sides, strict=True)], texts)
    source, target = shortlists
    return [source.ids(symbols) for symbols, _ in split], [target.ids(symbols) for _, symbols in split]


def _whole(pairs: list[list[list[str]]], texts: Sequence[str]) -> list[list[list[str]]]:
    """The pairs without an empty side. Raises UserError if none is left."""
    whole = [pair for pair in pairs if all(pair)]
    if not whole:
        raise UserError(f"{texts[0]}: no pair has words on both sides; name another text")
    return whole


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
