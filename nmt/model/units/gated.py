"""The gated hidden unit of Section 3.3.1, for encoder and decoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class GatedUnit(nn.Module):
    """n gated hidden units over m-dimensional inputs.

    Only the candidate has a bias, as in the original code. Everything the inputs (and, in the decoder, the context)
    add to the three pre-activations arrives as one sum of width 3n, in the order candidate, update, reset.
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.W = nn.Parameter(torch.empty(hidden, inputs))
        self.W_z = nn.Parameter(torch.empty(hidden, inputs))
        self.W_r = nn.Parameter(torch.empty(hidden, inputs))
        self.b = nn.Parameter(torch.empty(hidden))
        self.U = nn.Parameter(torch.empty(hidden, hidden))
        self.U_z = nn.Parameter(torch.empty(hidden, hidden))
        self.U_r = nn.Parameter(torch.empty(hidden, hidden))

    def project(self, inputs: Tensor) -> Tensor:
        """[W x + b; W_z x; W_r x] of `inputs` (..., m): (..., 3n). Depends on no state, so all steps go at once."""
        weights = torch.cat([self.W, self.W_z, self.W_r])
        bias = functional.pad(self.b, (0, 2 * self.hidden))
        return functional.linear(inputs, weights, bias)

    def step(self, projected: Tensor, state: Tensor) -> Tensor:
        """s_i from s_{i-1} (B, n) and the projected inputs (B, 3n): the equations of A.1 and A.2.

        z_i = sigma(... + U_z s_{i-1}),  r_i = sigma(... + U_r s_{i-1}),
        s~_i = tanh(... + U [r_i o s_{i-1}]),  s_i = (1 - z_i) o s_{i-1} + z_i o s~_i.
        """
        for_candidate, for_update, for_reset = projected.split(self.hidden, dim=-1)
        z = torch.sigmoid(for_update + functional.linear(state, self.U_z))
        r = torch.sigmoid(for_reset + functional.linear(state, self.U_r))
        candidate = torch.tanh(for_candidate + functional.linear(r * state, self.U))
        return (1 - z) * state + z * candidate
