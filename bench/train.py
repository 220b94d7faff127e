"""`python -m bench.train`: what one update costs, beside a plain version of the same equations.

Every implementation runs in a process of its own, which keeps its memory apart; the processes take turns, one update
at a time, in an order that rotates, so that a change of the machine's speed meets all alike. Medians are written.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import pandas as pd
import torch

from bench.eager import Eager
from bench.machine import describe, product_rate
from nmt.device import keep_memory
from nmt.files import atomic
from nmt.model.initialization import initialize
from nmt.model.network import Network
from nmt.training.batches import Batch
from nmt.training.update import make_update
from nmt.variant import Variant

SYMBOLS = 30_001
BATCH = 80
SHAPES = ((20, 20), (50, 50))
IMPLEMENTATIONS = (
    ("eager", "float32"),
    ("eager, heap kept", "float32"),
    ("compiled", "float32"),
    ("ours", "float32"),
    ("ours", "bfloat16"),
)
WARM_UP = 4

#: Seconds of forward, backward and optimizer, each called in turn.
Phases = tuple[Callable[[], torch.Tensor], Callable[[torch.Tensor], Any], Callable[[], Any]]


def batch_of_text(source_words: int, target_words: int, device: torch.device) -> Batch:
    """Sentences of these lengths, EOS counted, whose words follow Zipf's law, as those of a text do."""
    generator = torch.Generator().manual_seed(1)
    frequency = 1.0 / torch.arange(1, SYMBOLS, dtype=torch.float64)
    sides = []
    for length in (source_words, target_words):
        ids = 1 + torch.multinomial(frequency, BATCH * length, replacement=True, generator=generator)
        sides += [ids.view(BATCH, length), torch.ones(BATCH, length, dtype=torch.bool)]
    return Batch(*sides).to(device)


def phases(implementation: str, variant: Variant, batch: Batch, device: torch.device) -> Phases:
    """The three parts of an update of the paper's RNNsearch."""
    if implementation == "ours":
        model = Network(variant, SYMBOLS, SYMBOLS)
        initialize(model, seed=1)
        update = make_update(model.to(device), variant, device)
        return lambda: update.cost(batch), lambda cost: update.differentiate(cost), update.optimizer.step
    plain = Eager(SYMBOLS).to(device)
    for parameter in plain.parameters():
        torch.nn.init.normal_(parameter, std=0.01)
    optimizer = torch.optim.Adadelta(plain.parameters(), 1.0, 0.95, 1e-6)
    cost = torch.compile(plain) if implementation == "compiled" else plain

    def differentiate(loss: torch.Tensor) -> None:
        optimizer.zero_grad(set_to_none=True)
        loss.backward()

    def step() -> None:
        torch.nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
        optimizer.step()

    return lambda: cost(*batch), differentiate, step
