"""Tiny models and ragged minibatches for the tests."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch

from nmt.model.initialization import initialize
from nmt.model.network import Network
from nmt.training.batches import Batch, pad
from nmt.variant import Variant

SOURCE_SYMBOLS, TARGET_SYMBOLS = 11, 13
KINDS = list(itertools.product(("attention", "fixed"), ("look_generate_update", "printed"), (None, 4)))


def tiny_variant(**settings: Any) -> Variant:
    """Every layer of another size, so that a mix-up of sizes shows."""
    sizes = {"embedding": 5, "hidden": 6, "alignment": 7, "maxout": 3}
    scales = {"initialization_scale": 0.5, "attention_scale": 0.5}
    return Variant(**{"name": "tiny", **sizes, **scales, **settings})


def tiny_model(seed: int = 1, dtype: torch.dtype = torch.float64, **settings: Any) -> Network:
    """A model with random weights everywhere, biases and v_a too, so that none can be forgotten unseen."""
    model = Network(tiny_variant(**settings), SOURCE_SYMBOLS, TARGET_SYMBOLS).to(dtype)
    initialize(model, seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=generator)
    return model


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
