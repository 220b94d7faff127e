"""Several processes train one model: each takes its share of every minibatch, and their gradients are summed.

`torchrun` starts them, one for each GPU, or several on CPUs. DistributedDataParallel sums the dense gradients during
the backward pass; the sparse gradients of embeddings on a CPU, which it does not support, are summed after it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from nmt.model.network import Network
from nmt.system.errors import UserError
from nmt.training.batches import Batch


@dataclass(frozen=True)
class Processes:
    """The processes of one training run, and the rank of this one; by default it is alone.

    Every method except `device` and `share` waits for the other processes, so all must call it.
    """

    rank: int = 0
    world: int = 1
    local_rank: int = 0

    @property
    def alone(self) -> bool:
        """Whether this process trains the model by itself."""
        return self.world == 1

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files and shows progress."""
        return self.rank == 0

    def device(self, device: torch.device) -> torch.device:
        """The device of this process: among GPUs, that of its local rank. UserError if there are too few GPUs."""
        if device.type == "cpu" or self.alone:
            return device
        if self.local_rank >= torch.cuda.device_count():
            raise UserError(
                f"torchrun: more processes here than GPUs ({torch.cuda.device_count()}); start one for each"
            )
        torch.cuda.set_device(self.local_rank)
        return torch.device("cuda", self.local_rank)

    def share(self, batch: Batch) -> Batch:
        """Every `world`-th row of a minibatch; it is sorted by length, so all processes get the same amount of work."""
        return batch if self.alone else Batch(*(part[self.rank :: self.world].contiguous() for part in batch))

    def cost(self, model: Network, sparse: Collection[nn.Parameter]) -> Callable[..., Tensor]:
        """`model.summed_nll` of a share; its backward pass sums every dense gradient over all shares.

        The gradients of the parameters in `sparse` are left to `sum_sparse`.
        """
        if self.alone:
            return model.summed_nll
        cost = _Cost(model)
        ignored = [name for name, parameter in cost.named_parameters() if any(parameter is one for one in sparse)]
        DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(cost, ignored)
        parallel = DistributedDataParallel(cost, gradient_as_bucket_view=True)
        parallel.register_comm_hook(None, lambda _, bucket: _summed(bucket.buffer()))
        return parallel

    def sum_sparse(self, parameters: Collection[nn.Parameter]) -> None:
        """Replace the sparse gradient of each parameter by its sum over the processes."""
        if not self.alone:
            for parameter in parameters:
                dist.all_reduce(parameter.grad)

    def sum(self, values: Tensor) -> Tensor:
        """`values` summed over the processes, in place."""
        if not self.alone:
            dist.all_reduce(values)
        return values

    def any(self, *flags: bool) -> list[bool]:
        """For each flag, whether any process has set it. Does not wait for the GPU."""
        if self.alone:
            return list(flags)
        values = torch.tensor(flags, dtype=torch.uint8)
        dist.all_reduce(values, dist.ReduceOp.MAX)
        return [bool(value) for value in values.tolist()]

    def wait(self) -> None:
        """Return once every process has called this."""
        self.any(True)

    @contextmanager
    def first_alone(self) -> Iterator[None]:
        """A context that the first process leaves before the others enter it."""
        if not self.first:
            self.wait()
        try:
            yield
        finally:
            if self.first:
                self.wait()


class _Cost(nn.Module):
    """The training cost as the forward pass of a module, as DistributedDataParallel needs it."""

    def __init__(self, model: Network) -> None:
        super().__init__()
        self.model = model

    def forward(self, *batch: Tensor) -> Tensor:
        return self.model.summed_nll(*batch)


def _summed(gradients: Tensor) -> torch.futures.Future[Tensor]:
    """The sum of the gradients of all processes; by itself, DistributedDataParallel takes their mean."""
    work: Any = dist.all_reduce(gradients, async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


@contextmanager
def joined(device: torch.device) -> Iterator[Processes]:
    """A context in which the processes that torchrun started work together; without torchrun, this process alone."""
    if not dist.is_torchelastic_launched() or os.environ.get("WORLD_SIZE") == "1":
        yield Processes()
        return
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"):
        if not re.fullmatch("[0-9]{1,6}", os.environ.get(name, "")):
            raise UserError(
                f"{name}: not a number, as torchrun sets it; start with torchrun, or unset TORCHELASTIC_RUN_ID"
            )
    dist.init_process_group("gloo" if device.type == "cpu" else "cpu:gloo,cuda:nccl")
    try:
        yield Processes(dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"]))
    except RuntimeError as error:
        if isinstance(error, dist.DistError) or "gloo" in str(error) or "Connection" in str(error):
            raise UserError("another process of this training has ended; it says why") from None
        raise
    finally:
        dist.destroy_process_group()
