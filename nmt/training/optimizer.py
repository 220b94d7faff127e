"""The optimizers, with the settings of Appendix B.2 as the default."""

from __future__ import annotations

import torch
from torch import nn

from nmt.variant import Variant


def make_optimizer(model: nn.Module, variant: Variant) -> torch.optim.Optimizer:
    """Adadelta (rho 0.95, eps 1e-6), equal to the original code's at learning rate 1, or Adam."""
    if variant.optimizer == "adadelta":
        return torch.optim.Adadelta(model.parameters(), variant.learning_rate, variant.rho, variant.epsilon)
    return torch.optim.Adam(model.parameters(), variant.learning_rate, fused=True)
