"""Tiny models, their folders and ragged minibatches for the tests."""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nmt.corpora.padding import pad
from nmt.corpora.shortlist import Shortlist
from nmt.model.initialization import initialize
from nmt.model.network import Network
from nmt.settings.variant import ATTENTIONS, Variant
from nmt.trained import save_model
from nmt.training.batches import Batch

SOURCE_SYMBOLS, TARGET_SYMBOLS = 11, 13
ORDERS = ("look_generate_update", "printed")
UNITS = {"gated": (None, 4), "lstm": (None,)}  # unit -> output ranks
KINDS: list[dict[str, Any]] = [
    {"attention": attention, "decoder_order": order, "output_rank": rank, "unit": unit}
    for unit, ranks in UNITS.items()
    for attention, order, rank in itertools.product(("additive", "fixed"), ORDERS, ranks)
]
KINDS += [
    {"attention": attention, "decoder_order": order, "unit": unit, "score_previous": True, "initial_state": "mean"}
    for attention, order, unit in itertools.product(("additive", "fine_grained"), ORDERS, UNITS)
]
KINDS += [
    {"attention": attention, "decoder_order": "printed", "initial_state": start}
    for attention, start in (("fine_grained", "first"), ("additive", "mean"), ("fixed", "mean"))
]
KINDS += [
    {"attention": "additive", "decoder_order": order, "output_rank": None, "unit": "lstm", "contextualization": 8}
    for order in ORDERS
]
KINDS += [
    {"attention": attention, "decoder_order": "printed", "score_previous": True, "contextualization": 8}
    for attention in ("additive", "fine_grained")
]
KINDS += [
    {"attention": attention, "decoder_order": order}
    for attention, order in itertools.product(ATTENTIONS, ORDERS)
    if attention not in {"additive", "fixed", "fine_grained"}
]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind.values())))


def tiny_variant(**settings: Any) -> Variant:
    """Every layer of another size, so that a mix-up of sizes shows."""
    sizes = {"embedding": 5, "hidden": 6, "alignment": 7, "maxout": 3, "output_rank": None}
    scales = {"initialization_scale": 0.5, "attention_scale": 0.5}
    return Variant.build({"name": "tiny", "updates": 288_000, **sizes, **scales, **settings}, "tiny")


def tiny_model(seed: int = 1, dtype: torch.dtype = torch.float64, **settings: Any) -> Network:
    """A model with random weights everywhere, biases and v_a too, so that none can be forgotten unseen."""
    variant = tiny_variant(**settings)
    learning = variant.optimization
    model = Network(variant.architecture, SOURCE_SYMBOLS, TARGET_SYMBOLS, learning.implementation).to(dtype)
    initialize(model, replace(learning, seed=seed))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.ordered_parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=generator)
    return model


def save_trained(folder: Path, model: Network) -> None:
    """The folder that the step train leaves: the source words are s2, s3, ..., the target words t2, t3, ..."""
    folder.mkdir(parents=True, exist_ok=True)
    save_model(model, folder / "model.safetensors")
    for name, letter, symbols in (("source", "s", SOURCE_SYMBOLS), ("target", "t", TARGET_SYMBOLS)):
        words = [f"{letter}{number}" for number in range(2, symbols)]
        Shortlist(("<eos>", "<unk>", *words), (1,) * symbols).write(folder / f"{name}.tsv")
    sign(folder)


def sign(folder: Path) -> None:
    """Write a summary that agrees with the files of a model."""
    names = ("model.safetensors", "source.tsv", "target.tsv")
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    (folder / "summary.json").write_text(json.dumps({"languages": ["en", "fr"], "digests": digests}))


def ragged_pairs(
    seed: int = 1, lengths: tuple[tuple[int, int], ...] = ((5, 1), (0, 6), (3, 0), (4, 3))
) -> tuple[list, list]:
    """Sentence pairs of these lengths in words, without EOS."""
    random = np.random.default_rng(seed)
    sources = [random.integers(1, SOURCE_SYMBOLS, length).tolist() for length, _ in lengths]
    targets = [random.integers(1, TARGET_SYMBOLS, length).tolist() for _, length in lengths]
    return sources, targets


def ragged_batch(seed: int = 1) -> Batch:
    """`ragged_pairs` padded."""
    sources, targets = ragged_pairs(seed)
    return Batch(*pad(sources), *pad(targets))
