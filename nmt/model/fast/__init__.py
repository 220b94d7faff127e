"""The fast implementation: one loop over time, and what a unit or an attention does within it.

What lies between the matrix products is a function in plain PyTorch here and a Triton kernel of the same name in
`nmt.model.fast.kernels`. Results take the type of the tensor that they are stored in.
"""

from __future__ import annotations

import torch
from torch import Tensor

MINUS_ONE = torch.tensor(-1.0)  # a tensor, so that 2 sigma - 1 takes one pass over memory


def tanh_of_sum(x: Tensor, y: Tensor, out: Tensor | None = None) -> Tensor:
    """tanh(x + y), in `out` if given; if one is broadcast, x is the smaller one.

    On a CPU it is 2 sigma(2x + 2y) - 1, equal up to rounding errors of 1, because PyTorch's sigmoid takes a sixth of
    the time of its tanh. Only without autograd, which would need sigma's unmodified result.
    """
    if y.device.type != "cpu" or torch.is_grad_enabled():
        return torch.add(x, y, out=out).tanh_()
    sigma = torch.add(2 * x, y, alpha=2, out=out).sigmoid_()
    return torch.add(MINUS_ONE, sigma, alpha=2, out=sigma)
