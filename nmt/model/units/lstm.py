"""Long short-term memory (Hochreiter and Schmidhuber, 1997) with a forget gate and without peepholes.

It is the unit of Choi et al. (2017), Section 4.3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from nmt.model.fast.loop import Recurrence
from nmt.model.fast.lstm import FastLSTM
from nmt.model.units import Unit


class LSTM(Unit):
    """Units whose state is [h_i; c_i], hidden state and memory cell, one after the other.

    What the input and the context add to the pre-activations arrives as one tensor of `inputs` = 4n columns, in the
    order candidate, input gate, forget gate, output gate. Each of the four has a bias.
    """

    def __init__(self, embedding: int, hidden: int, context: int | None = None) -> None:
        super().__init__(embedding, hidden)
        self.inputs, self.state = 4 * hidden, 2 * hidden
        if context is not None:
            self.C = nn.Parameter(torch.empty(hidden, context))
            self.C_i = nn.Parameter(torch.empty(hidden, context))
            self.C_f = nn.Parameter(torch.empty(hidden, context))
            self.C_o = nn.Parameter(torch.empty(hidden, context))
        self.W = nn.Parameter(torch.empty(hidden, embedding))
        self.W_i = nn.Parameter(torch.empty(hidden, embedding))
        self.W_f = nn.Parameter(torch.empty(hidden, embedding))
        self.W_o = nn.Parameter(torch.empty(hidden, embedding))
        self.b = nn.Parameter(torch.empty(hidden))
        self.b_i = nn.Parameter(torch.empty(hidden))
        self.b_f = nn.Parameter(torch.empty(hidden))
        self.b_o = nn.Parameter(torch.empty(hidden))
        self.U = nn.Parameter(torch.empty(hidden, hidden))
        self.U_i = nn.Parameter(torch.empty(hidden, hidden))
        self.U_f = nn.Parameter(torch.empty(hidden, hidden))
        self.U_o = nn.Parameter(torch.empty(hidden, hidden))

    @property
    def context_matrices(self) -> list[nn.Parameter]:
        """C, C_i, C_f and C_o of the decoder's unit, in the order of the inputs."""
        return [self.C, self.C_i, self.C_f, self.C_o]

    @property
    def recurrent_matrices(self) -> list[nn.Parameter]:
        """U, U_i, U_f and U_o, in the order of the inputs."""
        return [self.U, self.U_i, self.U_f, self.U_o]

    @property
    def forget_bias(self) -> nn.Parameter:
        """b_f."""
        return self.b_f

    def project(self, embedded: Tensor) -> Tensor:
        """[W x + b; W_i x + b_i; W_f x + b_f; W_o x + b_o] of x = `embedded` (..., m): (..., 4n)."""
        bias = torch.cat([self.b, self.b_i, self.b_f, self.b_o])
        return self.linear(embedded, self.W, self.W_i, self.W_f, self.W_o, bias=bias)

    def step(self, inputs: Tensor, state: Tensor) -> Tensor:
        """[h_i; c_i] (B, 2n) from [h_{i-1}; c_{i-1}] and what the input and the context v_i add, (B, 4n).

        g = tanh(W x + b + C v_i + U h_{i-1}),  i = sigma(W_i x + b_i + C_i v_i + U_i h_{i-1}),  f and o likewise,
        c_i = f o c_{i-1} + i o g,  h_i = o o tanh(c_i).
        """
        candidate, enter, forget, leave = inputs.split(self.hidden, dim=-1)
        hidden, cell = state.split(self.hidden, dim=-1)
        g = torch.tanh(candidate + self.linear(hidden, self.U))
        i = torch.sigmoid(enter + self.linear(hidden, self.U_i))
        f = torch.sigmoid(forget + self.linear(hidden, self.U_f))
        o = torch.sigmoid(leave + self.linear(hidden, self.U_o))
        cell = f * cell + i * g
        return torch.cat([o * torch.tanh(cell), cell], dim=-1)

    def recurrence(self) -> Recurrence:
        """The unit in the fast loop, with [U; U_i; U_f; U_o] (4n, n), to be joined with the attention's matrix."""
        return Recurrence(FastLSTM(self.hidden), (torch.cat([self.U, self.U_i, self.U_f, self.U_o]),))

    def library_weights(self) -> list[Tensor]:
        """Weights of input (4n, m) and state (4n, n), biases (4n) of both, those of the state 0; gates i, f, g, o.

        All lie in one piece of memory, as cuDNN expects; otherwise it would copy them.
        """
        bias = (self.b_i, self.b_f, self.b, self.b_o)
        parts = (self.W_i, self.W_f, self.W, self.W_o, self.U_i, self.U_f, self.U, self.U_o, *bias)
        whole = torch.cat([*(part.flatten() for part in parts), *(torch.zeros_like(part) for part in bias)])
        shapes = [(4 * self.hidden, part.shape[1]) for part in (self.W, self.U)] + [(4 * self.hidden,)] * 2
        pieces = whole.split([math.prod(shape) for shape in shapes])
        return [piece.view(shape) for piece, shape in zip(pieces, shapes, strict=True)]
