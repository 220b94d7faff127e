"""The loop with a unit and an attention that it has never seen: each is a free choice, and so is their combination.

An LSTM with one packed state tensor, and an attention that weights every dimension of an annotation for itself and
sees the previous word, so that c_i is formed within the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.model.attention import Attention
from nmt.model.embedding import PreviousWords
from nmt.model.fast import loop
from nmt.model.memory import Memory
from nmt.model.network import Network
from nmt.model.units import Unit
from nmt.settings.variant import ATTENTIONS, Architecture
from tests.model.models import SOURCE_SYMBOLS, TARGET_SYMBOLS, ragged_batch

B, T, N, SOURCE = 2, 3, 3, 4


class LSTM:
    """[h, c] in one state; all four gates take the joined product, so no inputs are apart from it."""

    def __init__(self, hidden: int) -> None:
        self.hidden, self.state, self.inputs, self.unjoined = hidden, 2 * hidden, 4 * hidden, 0

    def allocate(self, projected: Tensor, dtype: torch.dtype) -> list[Tensor]:
        return [torch.empty_like(projected)]

    def step(self, inputs, state, product, weights, saved, present, new, low_precision) -> None:
        saved[0].copy_(inputs + product)
        new.copy_(lstm_step(saved[0], state, present))
        if low_precision is not None:
            low_precision.copy_(new[..., : self.hidden])

    def grad_inputs(self, state, grad_new, weights, saved, out) -> Tensor:
        with torch.enable_grad():
            leaves = [tensor.detach().requires_grad_() for tensor in (saved[0], state)]
            grad_sums, grad_state = torch.autograd.grad(lstm_step(*leaves), leaves, grad_new)
        out.copy_(grad_sums)
        return grad_state

    def grad_state(self, outside, grad_new, inner, grad_product, saved) -> Tensor:
        return outside + inner + functional.pad(grad_product, (0, self.hidden))

    def grad_weights(self, grad_inputs, saved) -> tuple[Tensor, ...]:
        return ()


def lstm_step(sums: Tensor, state: Tensor, present: Tensor | None = None) -> Tensor:
    """The next [h, c] (..., B, 2n); sums (..., B, 4n) are the pre-activations of the three gates and the candidate."""
    assert present is None
    i, f, o, candidate = sums.chunk(4, dim=-1)
    c = torch.sigmoid(f) * state.chunk(2, dim=-1)[1] + torch.sigmoid(i) * torch.tanh(candidate)
    return torch.cat([torch.sigmoid(o) * torch.tanh(c), c], dim=-1)


def fine(query: Tensor, annotations: Tensor, mask: Tensor) -> Tensor:
    """c (B, 2n) of a query (B, 2n) over annotations (B, Tx, 2n): a softmax over positions for every dimension."""
    energy = torch.tanh(query.unsqueeze(1) * annotations)
    return (energy.masked_fill(~mask.unsqueeze(-1), -torch.inf).softmax(dim=1) * annotations).sum(dim=1)


class FastFine:
    """Tensors: W_a (2n, n); annotations, mask and C."""

    def __init__(self, queries: int) -> None:
        self.queries = queries

    def prepare(self, tensors, dtype) -> list[Tensor]:
        return list(tensors)

    def allocate(self, projected, tensors) -> list[Tensor]:
        return [projected.new_empty(*projected.shape[:-1], self.queries)]

    def attend(self, query, inputs, tensors, saved) -> Tensor:
        annotations, mask, C = tensors
        saved[0].copy_(fine(query, annotations, mask))
        return inputs + saved[0] @ C.T

    def accumulators(self, state, tensors) -> list[Tensor]:
        return [torch.zeros_like(tensors[0])]

    def backward(self, grad_inputs, grad_saved, query, tensors, saved, accumulators, out) -> None:
        annotations, mask, C = tensors
        with torch.enable_grad():
            leaves = [tensor.detach().requires_grad_() for tensor in (query, annotations)]
            grad_context = grad_saved + grad_inputs @ C
            grad_query, grad_annotations = torch.autograd.grad(fine(*leaves, mask), leaves, grad_context)
        out.copy_(grad_query)
        accumulators[0] += grad_annotations

    def gradients(self, grad_inputs, tensors, saved, accumulators) -> tuple[Tensor | None, ...]:
        return accumulators[0], None, grad_inputs.flatten(0, 1).T @ saved[0].flatten(0, 1)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


MASK = torch.arange(SOURCE) < torch.tensor([SOURCE, 2]).unsqueeze(1)


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(1)


def plain(
    U: Tensor, W_a: Tensor, projected: Tensor, initial: Tensor, annotations: Tensor, Y: Tensor, C: Tensor
) -> tuple[Tensor, Tensor]:
    """The LSTM with the fine-grained attention, step by step: states and contexts."""
    states, contexts = [initial], []
    for t in range(len(projected)):
        h = states[-1][:, :N]
        contexts.append(fine(h @ W_a.T + Y[t], annotations, MASK))
        states.append(lstm_step(projected[t] + contexts[-1] @ C.T + h @ U.T, states[-1]))
    return torch.stack(states), torch.stack(contexts)


def fast(
    U: Tensor, W_a: Tensor, projected: Tensor, initial: Tensor, annotations: Tensor, Y: Tensor, C: Tensor
) -> tuple[Tensor, ...]:
    attending = loop.Attending(FastFine(2 * N), (W_a, annotations, MASK, C), Y)
    return loop.run(loop.Recurrence(LSTM(N), (U,)), projected, initial, attending=attending)


def test_another_unit_with_another_attention() -> None:
    tensors = (
        *(random(4 * N, N), random(2 * N, N), random(T, B, 4 * N), random(B, 2 * N)),
        *(random(B, SOURCE, 2 * N), random(T, B, 2 * N), random(4 * N, 2 * N)),
    )
    torch.testing.assert_close(fast(*tensors), plain(*tensors))
    assert torch.autograd.gradcheck(fast, tensors)


def test_another_unit_alone_in_two_directions() -> None:
    def run(projected: Tensor, initial: Tensor, *weights: Tensor) -> Tensor:
        both = loop.Recurrence.side_by_side([loop.Recurrence(LSTM(N), (U,)) for U in weights])
        return loop.run(both, projected, initial)[0]

    tensors = random(2, T, B, 4 * N), random(2, B, 2 * N), random(4 * N, N), random(4 * N, N)
    projected, state, *weights = tensors
    found = run(*tensors)
    for t in range(T):
        sums = projected[:, t] + state[..., :N] @ torch.stack(weights).mT
        state = lstm_step(sums, state)
        torch.testing.assert_close(found[:, t + 1], state)
    assert torch.autograd.gradcheck(run, tensors)


class Kept(NamedTuple):
    annotations: Tensor
    mask: Tensor


class FineAttention(Attention):
    """The same as a module. Its query sees y_{i-1}; the maps of c_i are applied to c_i itself."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__(architecture)
        self.W_a = nn.Parameter(torch.randn(2 * architecture.hidden, architecture.hidden))
        self.Y_a = nn.Parameter(torch.randn(2 * architecture.hidden, architecture.embedding))

    def keep(self, annotations: Tensor, mask: Tensor, maps: Sequence[Tensor]) -> tuple[Kept, Tensor]:
        return Kept(annotations, mask), annotations[:, 0, annotations.shape[-1] // 2 :]

    def attend(self, memory: Memory, state: Tensor, previous: Tensor) -> tuple[None, Tensor]:
        rows = len(state) // len(memory)
        annotations, mask = (part.repeat_interleave(rows, dim=0) for part in memory.kept)
        context = fine(state @ self.W_a.T + previous @ self.Y_a.T, annotations, mask)
        return None, self.linear(context, *memory.maps)

    def run(self, memory: Memory, unit: Unit, projected: Tensor, previous: PreviousWords) -> tuple[Tensor, Tensor]:
        *to_unit, C_o = memory.maps
        C = torch.cat(to_unit)
        Y = previous.projected(lambda embedded: functional.linear(embedded, self.Y_a))
        attending = loop.Attending(FastFine(len(self.W_a)), (self.W_a, *memory.kept, C), Y)
        states, contexts = loop.run(unit.recurrence(), projected, memory.initial, attending=attending)
        return states, contexts @ C_o.T


@pytest.mark.parametrize("order", ["look_generate_update", "printed"])
def test_another_attention_in_the_whole_model(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs no change elsewhere: training in both implementations, and the steps of a search, agree."""
    monkeypatch.setitem(ATTENTIONS, "fine", (__name__, "FineAttention"))
    architecture = Architecture("fine", embedding=5, hidden=6, maxout=3, decoder_order=order)
    slow, quick = (
        Network(architecture, SOURCE_SYMBOLS, TARGET_SYMBOLS, name).double() for name in ("readable", "fast")
    )
    with torch.no_grad():
        for parameter in slow.parameters():
            parameter.normal_(std=0.5)
    quick.load_state_dict(slow.state_dict())
    batch = ragged_batch()
    costs = [model.summed_nll(*batch) for model in (slow, quick)]
    torch.testing.assert_close(*costs)
    for gradients in zip(
        *(torch.autograd.grad(c, [*m.parameters()]) for c, m in zip(costs, (slow, quick), strict=True)), strict=True
    ):
        torch.testing.assert_close(*gradients)
    with torch.no_grad():
        memory = quick.encode(batch.source, batch.source_mask).select(torch.tensor([1, 0]))
        target, mask = batch.target[[1, 0]], batch.target_mask[[1, 0]]
        state, previous, total = quick.initial_state(memory), None, torch.zeros(2, dtype=torch.float64)
        for words, real in zip(target.T, mask.T, strict=True):
            prediction = quick.predict(memory, state, previous)
            total -= prediction.log_probabilities.gather(1, words[:, None])[:, 0] * real
            state, previous = quick.advance(prediction.carry, words), words
        torch.testing.assert_close(total, quick(*batch)[[1, 0]])
