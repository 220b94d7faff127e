"""RNNsearch written in plain PyTorch from Appendix A: the baseline with which speed is compared.

It avoids obvious waste: gates are stacked, the projections of the inputs and the readout are computed for all words at
once, and U_a h_j once a sentence. The rest is left to autograd, `torch.optim.Adadelta` and `clip_grad_norm_`.
"""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

Model = TypeVar("Model", bound=nn.Module)


class Gated(nn.Module):
    """A gated hidden unit; the caller projects the inputs (B, 3n), in the order candidate, update, reset."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.W = nn.Linear(inputs, 3 * hidden)
        self.U = nn.Linear(hidden, hidden, bias=False)
        self.U_zr = nn.Linear(hidden, 2 * hidden, bias=False)

    def forward(self, inputs: Tensor, state: Tensor) -> Tensor:
        n = state.shape[-1]
        z, r = torch.sigmoid(inputs[:, n:] + self.U_zr(state)).chunk(2, dim=-1)
        candidate = torch.tanh(inputs[:, :n] + self.U(r * state))
        return (1 - z) * state + z * candidate


class Eager(nn.Module):
    """RNNsearch with the default layer sizes of `nmt.settings.variant`, in the original code's order of steps."""

    def __init__(self, symbols: int, m: int = 620, n: int = 1000, alignment: int = 1000, maxout: int = 500) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(symbols, m), nn.Embedding(symbols, m)
        self.forwards, self.backwards, self.unit = Gated(m, n), Gated(m, n), Gated(m, n)
        self.start = nn.Linear(n, n)
        self.W_a = nn.Linear(n, alignment, bias=False)
        self.U_a = nn.Linear(2 * n, alignment, bias=False)
        self.v_a = nn.Linear(alignment, 1, bias=False)
        self.C = nn.Linear(2 * n, 3 * n, bias=False)
        self.U_o = nn.Linear(n, 2 * maxout)
        self.V_o = nn.Linear(m, 2 * maxout, bias=False)
        self.C_o = nn.Linear(2 * n, 2 * maxout, bias=False)
        self.W_o = nn.Linear(maxout, symbols)

    def encode(self, source: Tensor, mask: Tensor) -> Tensor:
        """The annotations h_j (B, Tx, 2n) of `source` (B, Tx); `mask` (B, Tx) is False on padding."""
        embedded = self.source(source)
        directions = []
        for unit, order in ((self.forwards, range(source.shape[1])), (self.backwards, range(source.shape[1])[::-1])):
            inputs = unit.W(embedded)
            state = embedded.new_zeros(len(source), unit.U.in_features)
            states: dict[int, Tensor] = {}
            for j in order:
                state = torch.where(mask[:, j, None], unit(inputs[:, j], state), state)
                states[j] = state
            directions.append(torch.stack([states[j] for j in sorted(states)], dim=1))
        return torch.cat(directions, dim=-1)

    def first(self, annotations: Tensor) -> Tensor:
        """The initial state s_0 (B, n)."""
        return torch.tanh(self.start(annotations[:, 0, annotations.shape[-1] // 2 :]))

    def attend(self, state: Tensor, annotations: Tensor, keys: Tensor, mask: Tensor) -> Tensor:
        """The context c_i (B, 2n) for the previous state (B, n); `keys` (B, Tx, n') are U_a h_j."""
        energy = self.v_a(torch.tanh(self.W_a(state).unsqueeze(1) + keys)).squeeze(-1)
        alignment = energy.masked_fill(~mask, -torch.inf).softmax(dim=-1)
        return torch.bmm(alignment.unsqueeze(1), annotations).squeeze(1)

    def logits(self, state: Tensor, previous: Tensor, context: Tensor) -> Tensor:
        """The logits (..., K) of the next word."""
        summed = self.U_o(state) + self.V_o(previous) + self.C_o(context)
        return self.W_o(summed.unflatten(-1, (-1, 2)).amax(dim=-1))

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor) -> Tensor:
        """The sum of -log p(y | x) over the batch."""
        annotations = self.encode(source, source_mask)
        keys = self.U_a(annotations)
        words = self.target(target)
        inputs = self.unit.W(words)
        state = self.first(annotations)
        states, contexts = [], []
        for i in range(target.shape[1]):
            context = self.attend(state, annotations, keys, source_mask)
            states.append(state)
            contexts.append(context)
            state = self.unit(inputs[:, i] + self.C(context), state)
        previous = functional.pad(words[:, :-1], (0, 0, 1, 0))
        logits = self.logits(torch.stack(states, dim=1), previous, torch.stack(contexts, dim=1))
        losses = functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
        return (losses * target_mask.flatten()).sum()

    @torch.no_grad()
    def beam(self, source: Tensor, mask: Tensor, width: int, steps: int) -> Tensor:
        """The words (B, steps, width) of a beam search; each of its rows has a copy of the annotations."""
        annotations = self.encode(source, mask)
        state = self.first(annotations).repeat_interleave(width, dim=0)
        keys = self.U_a(annotations).repeat_interleave(width, dim=0)
        annotations, mask = (part.repeat_interleave(width, dim=0) for part in (annotations, mask))
        previous = annotations.new_zeros(len(state), self.target.embedding_dim)
        scores = annotations.new_full((len(source), width), -torch.inf)
        scores[:, 0] = 0
        first = width * torch.arange(len(source), device=source.device).unsqueeze(1)
        chosen = []
        for _ in range(steps):
            context = self.attend(state, annotations, keys, mask)
            added = self.logits(state, previous, context).log_softmax(dim=-1).view(len(source), width, -1)
            totals = (scores.unsqueeze(-1) + added).flatten(1)
            scores, places = totals.topk(width, dim=1)
            words, rows = places % added.shape[-1], (first + places // added.shape[-1]).flatten()
            previous = self.target(words.flatten())
            state = self.unit(self.unit.W(previous) + self.C(context[rows]), state[rows])
            chosen.append(words)
        return torch.stack(chosen, dim=1)


def randomized(model: Model) -> Model:
    """Give `model` random weights."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.01)
    return model
