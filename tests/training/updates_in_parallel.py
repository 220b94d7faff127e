"""Run by torchrun: for every architecture, processes that share a minibatch make the same update as one process."""

from __future__ import annotations

import itertools

import torch

from nmt.training.parallel import joined
from nmt.training.update import Update
from tests.model.models import KINDS, ragged_batch, tiny_model
from tests.training.toy import tiny_variant

CPU = torch.device("cpu")

with joined(CPU) as processes:
    for kind, optimizer in itertools.product(KINDS, ("adadelta", "adam")):
        whole, shared = (tiny_model(**kind) for _ in range(2))
        optimization = tiny_variant(optimizer=optimizer).optimization
        alone, together = Update(whole, optimization, CPU), Update(shared, optimization, CPU, processes)
        for number in range(3):
            batch = ragged_batch(seed=number)
            cost, norm = together(processes.share(batch))
            torch.testing.assert_close((processes.sum(cost), norm), alone(batch), rtol=1e-9, atol=1e-12)
        for one, other in zip(whole.parameters(), shared.parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-7, atol=1e-9)
