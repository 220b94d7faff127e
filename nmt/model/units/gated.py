"""The gated hidden unit of Section 3.3.1, A.1 and A.2, for encoder and decoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.model.fast.gated import FastGated
from nmt.model.fast.loop import Recurrence
from nmt.model.units import Unit


class GatedUnit(Unit):
    """Gated hidden units, whose state is just s_i.

    Only the candidate has a bias, as in the original code. What the input and the context add to the three
    pre-activations arrives as one tensor of `inputs` = 3n columns, in the order candidate, update, reset.
    """

    def __init__(self, embedding: int, hidden: int, context: int | None = None) -> None:
        super().__init__(embedding, hidden)
        self.inputs, self.state = 3 * hidden, hidden
        if context is not None:
            self.C = nn.Parameter(torch.empty(hidden, context))
            self.C_z = nn.Parameter(torch.empty(hidden, context))
            self.C_r = nn.Parameter(torch.empty(hidden, context))
        self.W = nn.Parameter(torch.empty(hidden, embedding))
        self.W_z = nn.Parameter(torch.empty(hidden, embedding))
        self.W_r = nn.Parameter(torch.empty(hidden, embedding))
        self.b = nn.Parameter(torch.empty(hidden))
        self.U = nn.Parameter(torch.empty(hidden, hidden))
        self.U_z = nn.Parameter(torch.empty(hidden, hidden))
        self.U_r = nn.Parameter(torch.empty(hidden, hidden))

    @property
    def context_matrices(self) -> list[nn.Parameter]:
        """C, C_z and C_r of the decoder's unit, in the order of the inputs."""
        return [self.C, self.C_z, self.C_r]

    @property
    def recurrent_matrices(self) -> list[nn.Parameter]:
        """U, U_z and U_r."""
        return [self.U, self.U_z, self.U_r]

    def project(self, embedded: Tensor) -> Tensor:
        """[W x + b; W_z x; W_r x] of x = `embedded` (..., m): (..., 3n). It depends on no state."""
        bias = functional.pad(self.b, (0, 2 * self.hidden))
        return self.linear(embedded, self.W, self.W_z, self.W_r, bias=bias)

    def step(self, inputs: Tensor, state: Tensor) -> Tensor:
        """s_i (B, n) from s_{i-1} (B, n) and [W x + b + C c; W_z x + C_z c; W_r x + C_r c] (B, 3n), A.1 and A.2.

        z_i = sigma(W_z x + C_z c_i + U_z s_{i-1}),  r_i = sigma(W_r x + C_r c_i + U_r s_{i-1}),
        s~_i = tanh(W x + b + C c_i + U [r_i o s_{i-1}]),  s_i = (1 - z_i) o s_{i-1} + z_i o s~_i.
        """
        candidate, update, reset = inputs.split(self.hidden, dim=-1)
        z = torch.sigmoid(update + self.linear(state, self.U_z))
        r = torch.sigmoid(reset + self.linear(state, self.U_r))
        proposed = torch.tanh(candidate + self.linear(r * state, self.U))
        return (1 - z) * state + z * proposed

    def recurrence(self) -> Recurrence:
        """The unit in the fast loop, with [U_z; U_r] (2n, n), to be joined with the attention's matrix, and U."""
        return Recurrence(FastGated(self.hidden), (torch.cat([self.U_z, self.U_r]), self.U))
