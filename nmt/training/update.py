"""One update of the parameters: cost, gradient and optimizer step, on a GPU as one recorded graph."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from nmt.corpora.shortlist import EOS
from nmt.model.embedding import Embedding
from nmt.model.network import Network
from nmt.settings.variant import Variant
from nmt.training.batches import Batch
from nmt.training.optimizer import Adadelta, make_optimizer
from nmt.training.parallel import Processes

BUCKET = 8  # on a GPU sentences are padded to multiples of so many words, so that few graphs serve all batches


class Update:
    """Updates `model` by one minibatch after another, as Section 4.2 and Appendix B.2 say.

    The cost is the sum of the minibatch's negative log-likelihoods. Nothing waits for the device.
    """

    def __init__(
        self, model: Network, variant: Variant, device: torch.device, processes: Processes | None = None
    ) -> None:
        self.variant, self.device, self.processes = variant, device, processes or Processes()
        self.optimizer = make_optimizer(model, variant)
        embeddings = [module for module in model.modules() if isinstance(module, Embedding)]
        for embedding in embeddings:
            embedding.sparse = device.type == "cpu" and isinstance(self.optimizer, Adadelta)
        self.sparse = [embedding.E for embedding in embeddings if embedding.sparse]
        self.summed_nll = self.processes.cost(model, self.sparse)

    def __call__(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Update by `batch`; return its cost and the gradient's norm before clipping, both 0-dim.

        Where the norm is not finite, the parameters and the optimizer's averages stay as they were.
        """
        cost = self.cost(batch)
        self.differentiate(cost)
        return cost.detach(), self.optimizer.step()

    def cost(self, batch: Batch) -> Tensor:
        """The sum of -log p(y | x) over `batch`."""
        with self.precision():
            return self.summed_nll(*batch)

    def differentiate(self, cost: Tensor) -> None:
        """Give every parameter the gradient of `cost`, summed over the processes; of the mean if so set."""
        self.optimizer.zero_grad(set_to_none=True)
        (cost / self.variant.batch if self.variant.loss == "mean" else cost).backward()
        self.processes.add_sparse(self.sparse)

    def precision(self) -> AbstractContextManager[Any]:
        """Matrix products in bfloat16 where the setting says so; weights and sums stay float32."""
        if self.variant.precision == "bf16":
            return torch.autocast(self.device.type, torch.bfloat16, cache_enabled=False)
        return nullcontext()


class GraphedUpdate(Update):
    """The same with CUDA graphs: a batch of a shape that was met before is one launch.

    The first batch of a shape runs step by step, which also sets up what must not be set up within a graph; the second
    is recorded; from then on the record is replayed.
    """

    def __init__(self, model: Network, variant: Variant, device: torch.device) -> None:
        super().__init__(model, variant, device)
        self.met: set[tuple[int, int]] = set()
        self.graphs: dict[tuple[int, int], tuple[torch.cuda.CUDAGraph, Batch, Tensor, Tensor]] = {}
        self.pool = torch.cuda.graph_pool_handle()
        self.stream = torch.cuda.Stream(device)

    def __call__(self, batch: Batch) -> tuple[Tensor, Tensor]:
        batch = Batch(*(_widened(part) for part in batch))
        shape = (batch.source.shape[1], batch.target.shape[1])
        if shape not in self.graphs:
            if shape not in self.met:
                self.met.add(shape)
                self.stream.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(self.stream):
                    cost, norm = super().__call__(batch)
                torch.cuda.current_stream().wait_stream(self.stream)
                return cost, norm
            graph = torch.cuda.CUDAGraph()
            # Meanwhile another thread pins the next batch's memory, which the global mode forbids.
            with torch.cuda.graph(graph, pool=self.pool, capture_error_mode="thread_local"):
                cost, norm = super().__call__(batch)
            self.graphs[shape] = graph, batch, cost, norm
        graph, inputs, cost, norm = self.graphs[shape]
        for old, new in zip(inputs, batch, strict=True):
            old.copy_(new)
        graph.replay()
        return cost.clone(), norm.clone()


def make_update(model: Network, variant: Variant, device: torch.device, processes: Processes) -> Update:
    """The update for this device; several processes have no graphs, which DistributedDataParallel cannot be part of."""
    if device.type == "cuda" and processes.alone and variant.implementation == "fast":
        return GraphedUpdate(model, variant, device)
    return Update(model, variant, device, processes)


def _widened(part: Tensor) -> Tensor:
    """Ids or mask (B, T) padded on the right, with EOS or False, to a multiple of BUCKET."""
    return functional.pad(part, (0, -part.shape[1] % BUCKET), value=EOS)
