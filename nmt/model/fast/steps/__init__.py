"""What lies between matrix products, of a step or of the readout, in plain PyTorch.

`nmt.model.fast.kernels` has the same for CUDA. A result is stored in the type of the tensor that takes it.
"""

from __future__ import annotations

import torch
from torch import Tensor


def tanh_(x: Tensor) -> Tensor:
    """tanh(x) in place of x.

    On a CPU it is 2 sigma(2x) - 1, which differs by rounding errors of 1: PyTorch's sigmoid takes a sixth of the time
    of its tanh. If autograd records, it needs the result of sigma, which must then not be changed.
    """
    if x.device.type != "cpu" or torch.is_grad_enabled():
        return x.tanh_()
    return x.mul_(2).sigmoid_().mul_(2).sub_(1)
