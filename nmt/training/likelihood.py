"""-log p(y | x) of given sentence pairs: those of the development set during training, and of Table 2 afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import tee
from operator import itemgetter

import numpy as np
import torch

from nmt.corpora.padding import by_length, pad
from nmt.corpora.pairs import read_pairs, split_words
from nmt.corpora.shortlist import Shortlist
from nmt.model.network import Network
from nmt.system.errors import UserError

BATCH = 80

Sentences = list[list[int]]


def id_pairs(texts: Sequence[str], shortlists: Sequence[Shortlist]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the ids, without EOS, of both sides of each pair of a tokenized text; pairs with an empty side are skipped.

    Raises UserError at the end if there was no other pair.
    """
    whole = (pair for lines in read_pairs(*texts) if all(pair := [split_words(line) for line in lines]))
    sides = (
        shortlist.split_lines(map(itemgetter(side), pairs), text)
        for side, (shortlist, pairs, text) in enumerate(zip(shortlists, tee(whole), texts, strict=True))
    )
    source, target = shortlists
    found = False
    for symbols in zip(*sides, strict=True):
        if all(symbols):
            found = True
            yield source.ids(symbols[0]), target.ids(symbols[1])
    if not found:
        raise UserError(f"{texts[0]}: no pair has words on both sides; name another text")


def read_ids(texts: Sequence[str], shortlists: Sequence[Shortlist]) -> tuple[Sentences, Sentences]:
    """The source and the target sides of the pairs that `id_pairs` yields. Raises UserError as it does."""
    sources, targets = zip(*id_pairs(texts, shortlists), strict=True)
    return list(sources), list(targets)


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
