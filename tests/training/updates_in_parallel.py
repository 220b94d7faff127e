"""Run by torchrun: for every variant, processes that share a minibatch make the update that one makes of the whole."""

from __future__ import annotations

import itertools

import torch

from nmt.training.parallel import joined
from nmt.training.update import Update
from tests.model.models import KINDS, ragged_batch, tiny_model

CPU = torch.device("cpu")

with joined(CPU) as processes:
    for (context, order, rank), optimizer in itertools.product(KINDS, ("adadelta", "adam")):
        settings = {"context": context, "decoder_order": order, "output_rank": rank, "optimizer": optimizer}
        whole, shared = (tiny_model(**settings) for _ in range(2))
        alone, together = Update(whole, whole.variant, CPU), Update(shared, shared.variant, CPU, processes)
        for number in range(3):
            batch = ragged_batch(seed=number)
            cost, norm = together(processes.share(batch))
            torch.testing.assert_close((processes.sum(cost), norm), alone(batch), rtol=1e-9, atol=1e-12)
        for one, other in zip(whole.parameters(), shared.parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-7, atol=1e-9)
