"""Train JoeyNMT's recurrent model on the minibatches of one of our variants, and translate with it.

It runs in the environment of bench/peers.txt. Text, shortlists, minibatches, optimizer, learning rates and number of
updates are ours; the model, its cost and its search are JoeyNMT's, unchanged. Its initial weights are Gaussian with our
deviation, and its recurrent matrices orthogonal, as ours are.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bench.contender import BOS, EOS, PAD, SPECIALS, UNK, hide_unrelated, joeynmt_batch, joeynmt_model
from nmt.corpora import shortlist
from nmt.corpora.binarize import Bitext
from nmt.corpora.padding import by_length, pad
from nmt.corpora.pairs import split_words
from nmt.corpora.shortlist import Shortlist
from nmt.search.beam import MAXIMUM_LENGTH_RATIO
from nmt.settings.variant import Variant
from nmt.system.device import keep_memory, set_threads
from nmt.system.progress import Progress
from nmt.system.text import read_lines, write_lines
from nmt.training.batches import Batch, Batches
from nmt.training.optimizer import make_optimizer, scheduled_rate

SHIFT = len(SPECIALS) - 2  # our words follow two symbols, JoeyNMT's four
SENTENCES = 32  # translated at a time


def theirs(ids: Tensor, mask: Tensor) -> Tensor:
    """Our ids (B, T) with their mask, as JoeyNMT's."""
    found = torch.where(ids == shortlist.EOS, EOS, torch.where(ids == shortlist.UNK, UNK, ids + SHIFT))
    return torch.where(mask, found, PAD)


def ours(row: Sequence[int]) -> Iterator[int]:
    """Our ids of a translation, a row of JoeyNMT's ids, up to its end of sentence."""
    for symbol in row:
        if symbol in (EOS, PAD):
            return
        yield shortlist.UNK if symbol in (UNK, BOS) else symbol - SHIFT


def train(variant: Variant, data: Path, symbols: Sequence[int]) -> nn.Module:
    """The model after the updates of the variant."""
    settings = variant.optimization
    torch.manual_seed(settings.seed)
    scale = settings.initialization_scale
    initialization = {"initializer": "normal", "init_weight": scale, "init_rnn_orthogonal": True}
    embeddings = {"embed_initializer": "normal", "embed_init_weight": scale}
    sizes = [size + SHIFT for size in symbols]
    hidden = variant.architecture.hidden
    model = joeynmt_model(sizes, variant.architecture.embedding, hidden, **initialization, **embeddings)
    optimizer = make_optimizer(model.parameters(), settings)
    batches = Batches(Bitext(data), settings.maximum_length, settings.batch, settings.sort_batches)
    with Progress("JoeyNMT", settings.updates, "updates") as progress:
        for number in range(settings.updates):
            batch = batches[number]
            order = batch.source_mask.sum(1).argsort(descending=True, stable=True)  # as JoeyNMT's encoder requires
            batch = Batch(*(part[order] for part in batch))
            target = nn.functional.pad(theirs(batch.target, batch.target_mask), (1, 0), value=BOS)
            source = theirs(batch.source, batch.source_mask)
            ready = joeynmt_batch(source, batch.source_mask.sum(1), target)
            cost = model(return_type="loss", **vars(ready))[0]
            optimizer.zero_grad(set_to_none=True)
            cost.backward()
            optimizer.set_learning_rate(scheduled_rate(settings, settings.updates - number))
            optimizer.step()
            progress.update(1, NLL=cost.item() / len(source))
    return model.eval()


def translate(model: nn.Module, source: Path, shortlists: Sequence[Shortlist], beam: int, alpha: float) -> list[str]:
    """The translation of each line by beam search with the exponent `alpha` of JoeyNMT's length penalty (-1: none)."""
    from joeynmt.search import search

    first, second = shortlists
    sentences = [first.ids(first.split(split_words(line))) for line in read_lines(source)]
    translations = [""] * len(sentences)
    with Progress(f"JoeyNMT {source.name}", len(sentences), "sentences") as progress:
        for places in by_length([len(sentence) + 1 for sentence in sentences], SENTENCES):
            ids, mask = pad([sentences[place] for place in places])
            ready = joeynmt_batch(theirs(ids, mask), mask.sum(1), None)
            found, _, _ = search(model, ready, MAXIMUM_LENGTH_RATIO * ids.shape[1], beam, alpha)
            for place, row in zip(places, found.tolist(), strict=True):
                translations[place] = " ".join(second.join(second.words(ours(row))))
            progress.update(len(places))
    return translations


def run(job: dict[str, Any]) -> None:
    """Train, and write the translations that the job names: of each of its sources, with each exponent."""
    logging.disable(logging.INFO)
    warnings.simplefilter("ignore")
    hide_unrelated()
    keep_memory()
    set_threads(1)
    variant = Variant.from_json(job["variant"])
    shortlists = [Shortlist.read(path) for path in job["shortlists"]]
    model = train(variant, Path(job["data"]), [len(one) for one in shortlists])
    for source, alpha, output in job["translations"]:
        write_lines(output, translate(model, Path(source), shortlists, job["beam"], alpha))
    print(json.dumps({"parameters": sum(parameter.numel() for parameter in model.parameters())}))


if __name__ == "__main__":
    run(json.loads(sys.argv[1]))
