"""What a measurement of a GPU is: its models and sentences, at the paper's sizes unless others are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch

from bench.eager import Model
from bench.machine import PAPER, SYMBOLS
from bench.train import BATCH, LENGTHS, made_up
from nmt.corpora.shortlist import EOS
from nmt.model.network import Network
from nmt.settings.variant import Architecture
from nmt.training.batches import Batch
from nmt.training.update import BUCKET

ATTENTIONS = {"RNNsearch": "additive", "RNNencdec": "fixed"}
WARM_UP = 3  # a shape's first update runs operation by operation, its second is captured, its third replayed

Row = dict[str, Any]


class Job(NamedTuple):
    """A measurement: what tells it from the others of its section, and the function that makes it."""

    labels: Row
    measure: Callable[[], list[Row]]


@dataclass(frozen=True)
class Bench:
    """What is measured, and where: the paper's sizes, unless others are given."""

    device: torch.device
    architecture: Architecture = PAPER
    symbols: int = SYMBOLS
    batch: int = BATCH
    lengths: tuple[tuple[int, int], ...] = LENGTHS
    searched: tuple[int, ...] = (1, 32, 128)  # sentences at a time
    repeats: int = 20
    product: int | None = None  # rows of the matrices whose product gives the rate of products

    @property
    def gpu(self) -> bool:
        """Whether the device is a GPU, on which updates are recorded as graphs."""
        return self.device.type == "cuda"

    def network(self, kind: str = "RNNsearch", implementation: str = "fast", unit: str = "gated") -> Network:
        """A model of this kind with random weights, the same every time."""
        architecture = replace(self.architecture, attention=ATTENTIONS[kind], unit=unit)
        return self.randomized(Network(architecture, self.symbols, self.symbols, implementation))

    def randomized(self, model: Model) -> Model:
        """`model` on the device, with random weights that depend on nothing but their order."""
        model = model.to(self.device)
        generator = torch.Generator(self.device).manual_seed(1)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(std=0.03, generator=generator)
        return model

    def random_batch(self, lengths: tuple[int, int]) -> Batch:
        """Full sentences of these lengths, EOS counted."""
        return made_up(*lengths, self.symbols, self.batch).to(self.device)

    def small_batch(self, shift: int = 0) -> Batch:
        """8 pairs of 8 to 16 words, 12 on average; another `shift` gives other words in the same shape."""
        batch = made_up(2 * BUCKET, 2 * BUCKET, self.symbols, 8)
        lengths = torch.tensor([8, 9, 10, 11, 13, 14, 15, 16])
        parts = []
        for ids, order in ((batch.source, lengths), (batch.target, lengths.roll(3))):
            mask = torch.arange(ids.shape[1]) < order.unsqueeze(1)
            parts += [ids.roll(shift, 0).masked_fill(~mask, EOS), mask]
        return Batch(*parts).to(self.device)


def words(lengths: tuple[int, int]) -> str:
    """The label of updates on sentences of these lengths."""
    return "{}+{}".format(*lengths)
