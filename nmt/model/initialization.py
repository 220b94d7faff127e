"""Initial weights, Appendix B.1."""

from __future__ import annotations

import torch
from torch import nn

from nmt.model.network import Network
from nmt.model.units import Unit
from nmt.settings.variant import Optimization


@torch.no_grad()
def initialize(model: Network, settings: Optimization) -> None:
    """Fill `model` in place, in the order of `ordered_parameters`; a `seed` gives the same weights on every device.

    All vectors (v_a and the biases) are zero, except that the bias of an LSTM's forget gates is `forget_bias`.
    Recurrent matrices are random orthogonal. Other matrices are Gaussian with deviation `initialization_scale` (0.01),
    unless the attention asks for `attention_scale` (0.001) or for zeros.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    units = [module for module in model.modules() if isinstance(module, Unit)]
    recurrent = {matrix for unit in units for matrix in unit.recurrent_matrices}
    forget = {unit.forget_bias for unit in units}
    small, zero = set(model.decoder.attention.score_matrices), set(model.decoder.attention.zero_matrices)
    for parameter in model.ordered_parameters():
        if parameter.ndim == 1 or parameter in zero:
            parameter.fill_(settings.forget_bias if parameter in forget else 0.0)
        elif parameter in recurrent:
            gaussian = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(torch.linalg.svd(gaussian)[0])
        else:
            scale = settings.attention_scale if parameter in small else settings.initialization_scale
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)


def count_parameters(model: nn.Module) -> int:
    """The number of trained numbers: weights and biases."""
    return sum(parameter.numel() for parameter in model.parameters())
