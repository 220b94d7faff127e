"""RNNsearch and RNNencdec whole: p(y | x) of a sentence pair, and the steps that a search needs."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.corpora.shortlist import Shortlist
from nmt.model.embedding import Embedding
from nmt.model.encoder import Encoder
from nmt.model.memory import Carry, Memory, Prediction
from nmt.model.readout import Readout
from nmt.model.units.gated import GatedUnit
from nmt.settings.variant import CONTEXT_MODULES, Variant
from nmt.system.files import UserError, atomic


class Network(nn.Module):
    """The model that `variant` describes, for K_x source and K_y target symbols. Parameters are not initialized yet."""

    def __init__(self, variant: Variant, source_symbols: int, target_symbols: int) -> None:
        super().__init__()
        module, name = CONTEXT_MODULES[variant.context]
        context = getattr(importlib.import_module(module), name)
        m, n = variant.embedding, variant.hidden
        annotation = 2 * n if context.bidirectional else n
        self.variant = variant
        self.symbols = (source_symbols, target_symbols)
        self.updates = 0  # how many made these weights
        self.encoder = Encoder(source_symbols, m, n, variant.embedding_bias, context.bidirectional)
        self.context = context(annotation, n, variant.alignment)
        self.embedding = Embedding(target_symbols, m, variant.embedding_bias)
        self.unit = GatedUnit(m, n)
        self.C = nn.Parameter(torch.empty(n, annotation))
        self.C_z = nn.Parameter(torch.empty(n, annotation))
        self.C_r = nn.Parameter(torch.empty(n, annotation))
        self.W_s = nn.Parameter(torch.empty(n, n))
        self.b_s = nn.Parameter(torch.empty(n))
        self.readout = Readout(target_symbols, m, n, annotation, variant.maxout, variant.output_rank)

    @property
    def looks_first(self) -> bool:
        """The original code's order, look, generate, update: p(y_i) from s_{i-1}, then s_i = f(s_{i-1}, y_i, c_i).

        Otherwise the order printed in A.2: s_i = f(s_{i-1}, y_{i-1}, c_i), then p(y_i) from s_i.
        """
        return self.variant.decoder_order == "look_generate_update"

    def encode(self, source: Tensor, mask: Tensor) -> Memory:
        """Read `source` (B, Tx) of ids that end with EOS, `mask` (B, Tx) False on padding."""
        annotations = self.encoder(source, mask, self.variant.implementation == "fast")
        positions, mask, first = self.context.summarize(annotations, mask)
        projections = torch.cat([self.C, self.C_z, self.C_r, self.readout.C_o])
        return Memory(
            projected=functional.linear(positions, projections),
            keys=self.context.keys(positions),
            mask=mask,
            initial=torch.tanh(functional.linear(first, self.W_s, self.b_s)),
        )

    def initial_state(self, memory: Memory) -> Tensor:
        """s_0 = tanh(W_s h_1 + b), with h_1 the backward state of word 1, or the fixed vector: (B, n)."""
        return memory.initial

    def predict(self, memory: Memory, state: Tensor, previous: Tensor | None) -> Prediction:
        """log p(y_i) from `state` (N, n) and y_{i-1} = `previous` (N,), None before the first word.

        N is k rows for each sentence of `memory`, side by side: the annotations are kept once a sentence.
        """
        alignment, context = self.context.look(memory, state)
        for_unit, for_readout = context.split([3 * self.unit.hidden, len(self.readout.C_o)], dim=-1)
        embedded = state.new_zeros(len(state), self.variant.embedding)
        if previous is not None:
            embedded = self.embedding(previous)
        if not self.looks_first:
            state = self.unit.step(self.unit.project(embedded) + for_unit, state)
        hidden = self.readout.hidden(state, self.readout.project(embedded), for_readout)
        return Prediction(self.readout.log_probabilities(hidden), Carry(state, for_unit), alignment)

    def advance(self, carry: Carry, words: Tensor) -> Tensor:
        """The state (N, n) from which the next word is predicted, once y_i = `words` (N,) are chosen."""
        if not self.looks_first:
            return carry.state
        return self.unit.step(self.unit.project(self.embedding(words)) + carry.context, carry.state)

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor) -> Tensor:
        """-log p(y | x) of each pair, in nats with the end of sentence: (B,). Targets (B, Ty) end with EOS."""
        hidden = self._hidden(source, source_mask, target)[target_mask]
        losses = self.readout.nll(hidden, target[target_mask])
        scattered = losses.new_zeros(target.shape).masked_scatter(target_mask, losses)
        return scattered.sum(dim=1)

    def summed_nll(self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor) -> Tensor:
        """The training cost: the sum of -log p(y | x) over the minibatch, a scalar."""
        hidden = self._hidden(source, source_mask, target)
        if self.variant.implementation == "readable":
            return self.readout.nll(hidden[target_mask], target[target_mask]).sum()
        if hidden.device.type == "cpu":
            return self.readout.summed_nll(hidden[target_mask], target[target_mask])
        # how many words are real is not known there without waiting for the device
        return self.readout.summed_nll(*(part.flatten(0, 1) for part in (hidden, target, target_mask)))

    def _hidden(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        """What the output matrix is applied to, for every target word: (B, Ty, l or rank)."""
        memory = self.encode(source, source_mask)
        if self.variant.implementation == "readable":
            return self._hidden_step_by_step(memory, target)
        words = target.T
        before_first = memory.initial.new_zeros(1, words.shape[1], self.variant.embedding)
        previous = self._after(before_first, words[:-1], self.readout.project)
        if self.looks_first:
            projected = self.embedding.projected(words, self.unit.project)
        else:
            projected = self._after(before_first, words[:-1], self.unit.project)
        states, context = self.context.decode(memory, projected, self.unit)
        seen = states[:-1] if self.looks_first else states[1:]
        return self.readout.hidden(seen, previous, context).transpose(0, 1)

    def _after(self, first: Tensor, words: Tensor, project: Callable[[Tensor], Tensor]) -> Tensor:
        """`project` of `first` (1, B, m), then of the embeddings of `words` (T, B): (T + 1, B, p)."""
        return torch.cat([project(first), self.embedding.projected(words, project)])

    def _hidden_step_by_step(self, memory: Memory, target: Tensor) -> Tensor:
        width = 3 * self.unit.hidden
        state = memory.initial
        hidden = []
        for i in range(target.shape[1]):
            _, context = self.context.look(memory, state)
            previous = self.embedding(target[:, i - 1]) if i else state.new_zeros(len(state), self.variant.embedding)
            if self.looks_first:
                hidden.append(self.readout.hidden(state, self.readout.project(previous), context[:, width:]))
                state = self.unit.step(self.unit.project(self.embedding(target[:, i])) + context[:, :width], state)
            else:
                state = self.unit.step(self.unit.project(previous) + context[:, :width], state)
                hidden.append(self.readout.hidden(state, self.readout.project(previous), context[:, width:]))
        return torch.stack(hidden, dim=1)


def save_model(model: Network, path: str | Path) -> None:
    """Write the weights as safetensors, with what is needed to rebuild the model as its metadata."""
    about = {"variant": model.variant.to_json(), "symbols": model.symbols, "updates": model.updates}
    metadata = {"model": json.dumps(about)}  # one entry: the order of several would change from file to file
    weights = {name: weight.detach().cpu().contiguous() for name, weight in model.state_dict().items()}
    with atomic(path) as partial:
        safetensors.torch.save_file(weights, partial, metadata)


def load_model(path: str | Path, device: torch.device | str = "cpu") -> Network:
    """The model in `path`, in evaluation mode on `device`; UserError where the file is missing, cut or no model."""
    try:
        with safetensors.safe_open(path, framework="pt", device=str(device)) as file:
            about = json.loads((file.metadata() or {})["model"])
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
        model = Network(Variant.from_json(about["variant"]), *about["symbols"])
        model.load_state_dict(weights)
        model.updates = about["updates"]
    except FileNotFoundError:
        raise UserError(f"{path}: no such model; train it first") from None
    except (safetensors.SafetensorError, KeyError, RuntimeError, ValueError) as error:
        raise UserError(f"{path}: not a whole model of this project ({error}); train it again") from None
    if not all(bool(weight.isfinite().all()) for weight in weights.values()):
        raise UserError(f"{path}: its weights are not finite; train it again, with a lower learning_rate")
    return model.to(device).eval()


def load_with_shortlists(
    path: str | Path, shortlists: Sequence[str], device: torch.device
) -> tuple[Network, Shortlist, Shortlist]:
    """The model in `path` with the source and target shortlists; UserError where they do not belong together."""
    model = load_model(path, device)
    source, target = (Shortlist.read(shortlist) for shortlist in shortlists)
    if (len(source), len(target)) != tuple(model.symbols):
        raise UserError(f"{path}: trained with other shortlists than {' and '.join(shortlists)}; name its own")
    return model, source, target
