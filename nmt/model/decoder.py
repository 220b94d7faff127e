"""The decoder of A.2, which attends to the source, updates its state and predicts the target, word by word."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.model.attention import Attention
from nmt.model.embedding import Embedding, PreviousWords
from nmt.model.memory import Carry, Memory, Prediction
from nmt.model.products import Layer
from nmt.model.readout import Readout
from nmt.model.units import make_unit
from nmt.settings.variant import Architecture


class Decoder(Layer):
    """An attention, a recurrent unit and a readout, over K target symbols.

    In the original code's order (look, generate, update), p(y_i) comes from s_{i-1}, then s_i = f(s_{i-1}, y_i, c_i).
    In the order printed in A.2, first s_i = f(s_{i-1}, y_{i-1}, c_i), then p(y_i) comes from s_i.
    """

    def __init__(self, symbols: int, architecture: Architecture, attention: Attention) -> None:
        super().__init__()
        m, n = architecture.embedding, architecture.hidden
        self.generates_first = architecture.decoder_order == "look_generate_update"
        self.starts_from_mean = architecture.initial_state == "mean"
        self.attention = attention
        context = 2 * n if attention.bidirectional else n
        self.embedding = Embedding(symbols, m, architecture.embedding_bias)
        self.unit = make_unit(architecture, context)
        self.W_s = nn.Parameter(torch.empty(self.unit.state, context if self.starts_from_mean else n))
        self.b_s = nn.Parameter(torch.empty(self.unit.state))
        self.readout = Readout(symbols, architecture, context)

    def remember(self, annotations: Tensor, mask: Tensor, gate: Tensor | None = None) -> Memory:
        """The memory of `annotations` (B, Tx, 2n or n), whose `mask` (B, Tx) is False on padding.

        s_0 = tanh(W_s h + b_s), with h the backward state of word 1, or the fixed context, or the mean annotation.
        Target embeddings will be multiplied by `gate` (B, m), if there is one.
        """
        maps = (*self.unit.context_matrices, self.readout.C_o)
        kept, summary = self.attention.keep(annotations, mask, maps)
        if self.starts_from_mean:
            summary = (annotations * mask.unsqueeze(-1)).sum(dim=1) / mask.sum(dim=1, keepdim=True)
        return Memory(kept, maps, torch.tanh(self.linear(summary, self.W_s, bias=self.b_s)), gate)

    def predict(self, memory: Memory, state: Tensor, previous: Tensor | None) -> Prediction:
        """The prediction of y_i from `state` (N, state) and y_{i-1} = `previous` (N,), None before the first word.

        The N rows are k for each sentence of `memory`, side by side.
        """
        hidden, carry, alignment = self._step(memory, state, previous)
        return Prediction(self.readout.logits(hidden), carry, alignment)

    def advance(self, carry: Carry, words: Tensor) -> Tensor:
        """The state (N, state) that predicts the next word, once y_i = `words` (N,) are known."""
        if not self.generates_first:
            return carry.state
        projected = self.unit.project(self.embedding(words, carry.gate))
        return self.unit.step(projected + carry.context, carry.state)

    def hidden(self, memory: Memory, target: Tensor) -> Tensor:
        """What W_o is applied to, for every word of `target` (B, Ty), step by step: (B, Ty, l or rank)."""
        state, hidden = memory.initial, []
        for i in range(target.shape[1]):
            seen, carry, _ = self._step(memory, state, target[:, i - 1] if i else None)
            hidden.append(seen)
            state = self.advance(carry, target[:, i])
        return torch.stack(hidden, dim=1)

    def hidden_fast(self, memory: Memory, target: Tensor) -> Tensor:
        """The same in the fast loop."""
        words = PreviousWords(self.embedding, target.T, memory.gate)
        previous = words.projected(self.readout.project)
        states, context = self._run(memory, words)
        seen = self.unit.output(states[:-1] if self.generates_first else states[1:])
        return self.readout.hidden(seen, previous, context).transpose(0, 1)

    def attending(self, memory: Memory, target: Tensor) -> tuple[Tensor, Tensor]:
        """The last two arguments of `attention.attend` for each word of `target` (B, Ty): s_{i-1} and E y_{i-1}.

        (B Ty, n) and (B Ty, m); the Ty rows of a sentence are side by side.
        """
        words = PreviousWords(self.embedding, target.T, memory.gate)
        states, _ = self._run(memory, words)
        parts = (self.unit.output(states[:-1]), words.embedded())
        state, embedded = (part.transpose(0, 1).flatten(0, 1) for part in parts)
        return state, embedded

    def _run(self, memory: Memory, words: PreviousWords) -> tuple[Tensor, Tensor]:
        """The states (Ty + 1, B, state) and C_o c_i (Ty or 1, B, 2l) of the fast loop."""
        if self.generates_first:
            projected = self.embedding.projected(words.words, self.unit.project, memory.gate)
        else:
            projected = words.projected(self.unit.project)
        return self.attention.run(memory, self.unit, projected, words)

    def _embedded(self, state: Tensor, words: Tensor | None, gate: Tensor | None) -> Tensor:
        """E y_{i-1} (N, m), 0 before the first word."""
        if words is None:
            return state.new_zeros(len(state), self.embedding.E.shape[1])
        return self.embedding(words, gate)

    def _step(self, memory: Memory, state: Tensor, previous: Tensor | None) -> tuple[Tensor, Carry, Tensor | None]:
        """What W_o is applied to, (N, l or rank), the carry, and alpha_i (N, Tx), if there is one."""
        gate = memory.gate_rows(len(state))
        embedded = self._embedded(state, previous, gate)
        alignment, context = self.attention.attend(memory, self.unit.output(state), embedded)
        to_unit, to_readout = context.split([self.unit.inputs, len(self.readout.C_o)], dim=-1)
        if not self.generates_first:
            state = self.unit.step(self.unit.project(embedded) + to_unit, state)
        projected = self.readout.project(embedded)
        hidden = self.readout.hidden(self.unit.output(state), projected, to_readout)
        return hidden, Carry(state, to_unit, gate), alignment
