"""One update of the parameters: cost, gradient and optimizer step, on a GPU replayed as one CUDA graph."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from nmt.corpora.shortlist import EOS
from nmt.model.embedding import Embedding
from nmt.model.network import Network
from nmt.settings.variant import Optimization
from nmt.system import device as devices
from nmt.system.errors import warn
from nmt.training.batches import Batch
from nmt.training.optimizer import Adadelta, make_optimizer
from nmt.training.parallel import Processes

BUCKET = 4  # on a GPU, sentences are padded to a multiple of this length, so that few graphs serve all batches


class Update:
    """Updates `model` by a minibatch at a time (Section 4.2 and Appendix B.2).

    The cost is the summed negative log-likelihood of the minibatch. Nothing waits for the device.
    """

    def __init__(
        self, model: Network, optimization: Optimization, device: torch.device, processes: Processes | None = None
    ) -> None:
        self.optimization, self.device, self.processes = optimization, device, processes or Processes()
        self.optimizer = make_optimizer(model.ordered_parameters(), optimization)
        embeddings = [module for module in model.modules() if isinstance(module, Embedding)]
        for embedding in embeddings:
            embedding.sparse = device.type == "cpu" and isinstance(self.optimizer, Adadelta)
        self.sparse = [embedding.E for embedding in embeddings if embedding.sparse]
        self.dropout = None
        if optimization.dropout > 0:
            from nmt.training.dropout import Dropout  # here, so that the digest of other variants can leave it out

            self.dropout = model.dropout = Dropout(optimization, device, self.processes)
        self.summed_nll = self.processes.cost(model, self.sparse)

    def __call__(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Update by `batch`; return its cost and the norm of its gradient before clipping, both 0-dim.

        If the norm is not finite, the parameters and the state of the optimizer do not change.
        """
        cost = self.cost(batch)
        self.differentiate(cost)
        return cost.detach(), self.optimizer.step()

    def begin(self, number: int) -> None:
        """Prepare for update `number`: with dropout, its masks are drawn next."""
        if self.dropout is not None:
            self.dropout.begin(number)

    def set_learning_rate(self, rate: float) -> None:
        """Use `rate` from the next update on."""
        self.optimizer.set_learning_rate(rate)

    def cost(self, batch: Batch) -> Tensor:
        """The sum of -log p(y | x) over `batch`."""
        with self.precision():
            return self.summed_nll(*batch)

    def differentiate(self, cost: Tensor) -> None:
        """Give every parameter the gradient of `cost`, or with loss `mean` of the mean, summed over the processes."""
        self.optimizer.zero_grad(set_to_none=True)
        (cost / self.optimization.batch if self.optimization.loss == "mean" else cost).backward()
        self.processes.sum_sparse(self.sparse)

    def precision(self) -> AbstractContextManager[Any]:
        """A context with matrix products in bfloat16 if the setting asks for it; weights and sums stay float32."""
        if self.optimization.precision == "bf16":
            return torch.autocast(self.device.type, torch.bfloat16, cache_enabled=False)
        return nullcontext()


class GraphedUpdate(Update):
    """Updates with CUDA graphs: a batch of a known shape is a single launch.

    The first batch of a shape runs operation by operation, which also sets up what cannot be set up within a graph. The
    second is captured as a graph, which then makes this and all later updates of that shape. If a capture fails, all
    later updates run operation by operation.
    """

    def __init__(self, model: Network, optimization: Optimization, device: torch.device) -> None:
        super().__init__(model, optimization, device)
        self.seen: set[tuple[int, int]] = set()
        self.graphs: dict[tuple[int, int], tuple[torch.cuda.CUDAGraph, Batch, Tensor, Tensor]] = {}
        self.pool = torch.cuda.graph_pool_handle()
        self.stream = torch.cuda.Stream(device)
        self.failed = False
        self.rate = torch.empty((), device=device)

    def __call__(self, batch: Batch) -> tuple[Tensor, Tensor]:
        batch = Batch(*(_padded(part) for part in batch))
        shape = (batch.source.shape[1], batch.target.shape[1])
        if shape in self.seen and shape not in self.graphs and not self.failed:
            self.capture(shape, batch)
        self.seen.add(shape)
        if shape not in self.graphs:
            self.stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.stream):
                cost, norm = super().__call__(batch)
            torch.cuda.current_stream().wait_stream(self.stream)
            return cost, norm
        graph, inputs, cost, norm = self.graphs[shape]
        for old, new in zip(inputs, batch, strict=True):
            old.copy_(new)
        graph.replay()
        return cost.clone(), norm.clone()

    def capture(self, shape: tuple[int, int], batch: Batch) -> None:
        """Capture the update of a batch of this shape, without making it; warn if that fails."""
        graph = torch.cuda.CUDAGraph()
        try:
            # Meanwhile another thread pins the next batch's memory, which the global mode would forbid.
            with torch.cuda.graph(graph, pool=self.pool, capture_error_mode="thread_local"):
                cost, norm = super().__call__(batch)
        except RuntimeError as error:
            self.failed = True
            warn(f"no CUDA graph could be captured, so updates are slower: {str(error).splitlines()[0]}")
        else:
            self.graphs[shape] = graph, batch, cost, norm

    def set_learning_rate(self, rate: float) -> None:
        """Use `rate` from the next update on. Graphs read it from memory, because numbers in a graph cannot change."""
        self.optimizer.set_learning_rate(self.rate.fill_(rate))


def make_update(model: Network, optimization: Optimization, device: torch.device, processes: Processes) -> Update:
    """The update for this device: on a GPU with CUDA graphs, which cannot capture several processes."""
    graphs = device.type == "cuda" and processes.alone and "graphs" not in devices.SWITCHED_OFF
    if graphs and optimization.implementation == "fast":
        return GraphedUpdate(model, optimization, device)
    return Update(model, optimization, device, processes)


def _padded(part: Tensor) -> Tensor:
    """Ids or mask (B, T) padded on the right, with EOS or False, to a multiple of BUCKET."""
    return functional.pad(part, (0, -part.shape[1] % BUCKET), value=EOS)
