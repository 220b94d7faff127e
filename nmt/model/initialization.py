"""Initial weights, Appendix B.1."""

from __future__ import annotations

import torch
from torch import nn

from nmt.model.network import Network
from nmt.model.units.base import Unit

ALIGNMENT = ("W_a", "U_a", "W_y")
ZERO = ("v_a", "V")


@torch.no_grad()
def initialize(
    model: Network, seed: int, initialization_scale: float, attention_scale: float, forget_bias: float = 0.0
) -> None:
    """Fill `model` in place, the same for the same seed on every device.

    Recurrent matrices are random orthogonal, W_a, U_a and W_y Gaussian with deviation `attention_scale` (0.001), v_a, V
    and all biases zero, every other matrix Gaussian with deviation `initialization_scale` (0.01). The bias of an LSTM's
    forget gates is `forget_bias`.
    """
    generator = torch.Generator().manual_seed(seed)
    units = [module for module in model.modules() if isinstance(module, Unit)]
    recurrent = {id(matrix) for unit in units for matrix in unit.recurrent_matrices}
    for path, parameter in model.named_parameters():
        name = path.rpartition(".")[2]
        if name == "b_f":
            parameter.fill_(forget_bias)
        elif name in ZERO or name.startswith("b"):
            parameter.zero_()
        elif id(parameter) in recurrent:
            gaussian = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(torch.linalg.svd(gaussian)[0])
        else:
            scale = attention_scale if name in ALIGNMENT else initialization_scale
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)


def count_parameters(model: nn.Module) -> int:
    """How many numbers training changes."""
    return sum(parameter.numel() for parameter in model.parameters())
