"""The whole model: p(y | x) of a sentence pair, and the steps of a search."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from nmt.model.attention import make_attention
from nmt.model.contextualization import Contextualization
from nmt.model.decoder import Decoder
from nmt.model.encoder import Encoder
from nmt.model.memory import Carry, Memory, Prediction
from nmt.model.products import Layer, Prepared
from nmt.settings.variant import Architecture

Dropout = Callable[[Tensor], Tensor]


def unchanged(x: Tensor) -> Tensor:
    """No dropout."""
    return x


class Network(nn.Module):
    """The model that `architecture` describes, for K_x source and K_y target symbols; its weights are uninitialized.

    `implementation` is "fast"; with "readable" the model computes the equations step by step.
    """

    def __init__(
        self, architecture: Architecture, source_symbols: int, target_symbols: int, implementation: str = "fast"
    ) -> None:
        super().__init__()
        self.architecture = architecture
        self.fast = implementation == "fast"
        self.symbols = (source_symbols, target_symbols)
        self.updates = 0  # applied so far
        self.dropout: Dropout = unchanged  # only in the training cost
        attention = make_attention(architecture)
        self.encoder = Encoder(source_symbols, architecture, attention.bidirectional)
        self.decoder = Decoder(target_symbols, architecture, attention)
        units = architecture.contextualization
        self.contextualization = None if units is None else Contextualization(architecture.embedding, units)

    def ordered_parameters(self) -> list[nn.Parameter]:
        """The parameters in the order of drawing weights and of summing gradient norms, which decides a seed's results.

        A checkpoint holds the state of the optimizer in this order, too. First come the decoder's context matrices, W_s
        and b_s, then the others in the order of the modules.
        """
        decoder = self.decoder
        first = [*decoder.unit.context_matrices, decoder.W_s, decoder.b_s]
        return list(dict.fromkeys([*first, *self.parameters()]))

    def freeze(self, precision: str = "float32") -> None:
        """Prepare the decoder's weights for fast products in `precision`, "float32" or "bf16"; keeps a second copy.

        The weights must not change afterwards. The model cannot be trained: these products pass no gradient to them.
        """
        prepared = Prepared(torch.bfloat16 if precision == "bf16" else None)
        for module in self.decoder.modules():
            if isinstance(module, Layer):
                module.linear = prepared

    def encode(self, source: Tensor, mask: Tensor, dropout: Dropout = unchanged) -> Memory:
        """Encode `source` (B, Tx), ids that end with EOS; `mask` (B, Tx) is False on padding."""
        with self.decoder.linear.lowered(source.device):
            source_gate, target_gate = self._gates(source, mask)
            annotations = dropout(self.encoder(source, mask, self.fast, source_gate))
        return self.decoder.remember(annotations, mask, target_gate)

    def initial_state(self, memory: Memory) -> Tensor:
        """s_0 of each sentence, (B, state)."""
        return memory.initial

    def predict(self, memory: Memory, state: Tensor, previous: Tensor | None) -> Prediction:
        """The prediction of y_i from `state` (N, state) and y_{i-1} = `previous` (N,), None before the first word.

        The N rows are k for each sentence of `memory`, side by side; they share what is kept for it.
        """
        return self.decoder.predict(memory, state, previous)

    def advance(self, carry: Carry, words: Tensor) -> Tensor:
        """The state (N, state) that predicts the next word, once y_i = `words` (N,) are known."""
        return self.decoder.advance(carry, words)

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor) -> Tensor:
        """-log p(y | x) of each pair, in nats, end of sentence included: (B,). Targets (B, Ty) end with EOS."""
        with self.decoder.linear.lowered(source.device):
            hidden = self._hidden(source, source_mask, target)[target_mask]
            losses = self.decoder.readout.nll(hidden, target[target_mask])
        scattered = losses.new_zeros(target.shape).masked_scatter(target_mask, losses)
        return scattered.sum(dim=1)

    def summed_nll(self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor) -> Tensor:
        """The training cost: the sum of -log p(y | x) over the minibatch, a scalar in nats, as in `forward`."""
        hidden, readout = self._hidden(source, source_mask, target, self.dropout), self.decoder.readout
        if not self.fast:
            return readout.nll(hidden[target_mask], target[target_mask]).sum()
        if hidden.device.type == "cpu":
            return readout.summed_nll(hidden[target_mask], target[target_mask])
        # counting the real words would force a synchronization with a GPU
        return readout.summed_nll(*(part.flatten(0, 1) for part in (hidden, target, target_mask)))

    def _gates(self, source: Tensor, mask: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """What source and target embeddings are multiplied by, (B, m), if the model has contextualization."""
        if self.contextualization is None:
            return None, None
        embedding, network = self.encoder.embedding, self.contextualization.network
        mapped = embedding.projected(source, network) if self.fast else network(embedding(source))
        return self.contextualization(mapped, mask)

    def _hidden(self, source: Tensor, mask: Tensor, target: Tensor, dropout: Dropout = unchanged) -> Tensor:
        """What the output matrix is applied to, for every target word: (B, Ty, l or rank)."""
        memory = self.encode(source, mask, dropout)
        return dropout(self.decoder.hidden_fast(memory, target) if self.fast else self.decoder.hidden(memory, target))
