"""Dropout (Srivastava et al., 2014), whose masks follow from a seed and the number of an update."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from nmt.settings.variant import DROPOUT_BITS as BITS
from nmt.settings.variant import Optimization
from nmt.training.parallel import Processes


class Dropout:
    """Sets each number to 0 with the probability p = `optimization.dropout` and multiplies the others by 1 / (1 - p).

    The masks of an update are the same in a resumed run and with several processes: each process draws those of the
    whole minibatch and takes the rows of its share.
    """

    def __init__(self, optimization: Optimization, device: torch.device, processes: Processes) -> None:
        self.seed, self.size, self.device = optimization.seed, optimization.batch, device
        self.rows = slice(processes.rank, None, processes.world)
        self.least = round(optimization.dropout * 2**BITS) - 2 ** (BITS - 1)  # the smallest number that keeps its unit
        self.scale = 1 / (1 - optimization.dropout)
        self.generator = torch.Generator()
        if device.type == "cuda":  # a CUDA graph replays draws only from the default generator
            self.generator = torch.cuda.default_generators[torch.cuda.current_device()]

    def begin(self, update: int) -> None:
        """From now on, draw the masks of this update."""
        [drawn] = np.random.SeedSequence((self.seed, update)).generate_state(1, np.uint64)
        self.generator.manual_seed(int(drawn))

    def __call__(self, x: Tensor) -> Tensor:
        """`x` (B, ...), this process's share of the minibatch, with its next mask applied."""
        shape = (self.size, *x.shape[1:])
        numbers = math.prod(shape)
        drawn = torch.empty(-(-numbers * BITS // 64), dtype=torch.int64, device=self.device)
        drawn.random_(-(2**63), None, generator=self.generator)
        kept = drawn.view(torch.int16)[:numbers].view(shape)[self.rows] >= self.least
        return x * kept.to(x.dtype).mul_(self.scale)
