"""A step of the beam search as a function of tensors: first it follows the words chosen last, then it chooses the next.

Masks decide on the device which hypotheses end and which continue: a hypothesis that ends leaves an empty row, and a
sentence whose search is over has only empty rows. So all shapes can stay the same, no value is copied to the host, and
the step can be recorded once and replayed (`nmt.search.replay`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor

from nmt.corpora.shortlist import EOS
from nmt.model.fast.words import BLOCK, summarize
from nmt.model.memory import Carry, Memory
from nmt.model.network import Network


@dataclass(frozen=True)
class Sentences:
    """B sentences and the progress of their search.

    open (B,): how many hypotheses of a sentence may still be found: the beam's width, less one for each that ended.
    minimum, maximum (B,): the number of steps before which no hypothesis ends, and that of the whole search.
    taken (): the number of steps whose words are chosen.
    """

    memory: Memory
    open: Tensor
    minimum: Tensor
    maximum: Tensor
    taken: Tensor

    def select(self, index: Tensor, real: int) -> Sentences:
        """The sentences `index` (N,), in that order; all beyond the first `real` ones are over."""
        still_open = self.open[index]
        still_open[real:] = 0
        return replace(
            self,
            memory=self.memory.select(index),
            open=still_open,
            minimum=self.minimum[index],
            maximum=self.maximum[index],
        )


@dataclass(frozen=True)
class Rows:
    """What the next words are predicted from: k hypotheses of each sentence, side by side, best first.

    state (B k, state): the decoder's. scores (B, k): log p of the words so far; -inf marks an empty row. previous
    (B k,): the last words, None before the first.
    """

    state: Tensor
    scores: Tensor
    previous: Tensor | None

    def select(self, index: Tensor, width: int) -> Rows:
        """The first `width` rows of each of the sentences `index` (N,)."""
        sentences, rows = self.scores.shape
        assert self.previous is not None
        return Rows(
            self.state.view(sentences, rows, -1)[index, :width].flatten(0, 1),
            self.scores[index, :width],
            self.previous.view(sentences, rows)[index, :width].flatten(),
        )


@dataclass(frozen=True)
class Choice:
    """The best continuations of the rows of B sentences: those that continue, then those that end, each best first.

    carry: what the decoder kept for the rows that they continue.
    found (3, B, k) int64: their scores, as the bits of float64; the row that each continues, of all B k'; their words.
    -inf marks where there is none.
    alignment (B k', Tx): alpha_i of the rows, if it is kept.
    """

    carry: Carry
    found: Tensor
    alignment: Tensor | None


@dataclass(frozen=True)
class Beams:
    """All that a step reads and leaves to the next one."""

    sentences: Sentences
    choice: Choice

    @property
    def keep_shapes(self) -> bool:
        """Whether a step leaves all shapes as they are: not the first one, which follows a single row."""
        return len(self.choice.carry.state) == self.choice.found[0].numel()


@dataclass(frozen=True)
class Step:
    """A step with the options that decide what it computes; `BeamSettings` describes them."""

    model: Network
    width: int
    forbid_unk: bool
    alignments: bool

    def __call__(self, beams: Beams) -> Beams:
        """Follow and choose, at the full width: all shapes stay the same once a step with k rows has been taken."""
        return self.choose(beams.sentences, self.follow(beams, self.width))

    def follow(self, beams: Beams, width: int) -> Rows:
        """Advance the model by the words of the first `width` continuations; rows that do not continue become empty."""
        sentences, choice = beams.sentences, beams.choice
        bits, parents, words = choice.found[:, :, :width]
        over = (sentences.taken >= sentences.maximum).unsqueeze(1)
        scores = bits.view(torch.float64).masked_fill((words == EOS) | over, -torch.inf)
        previous = words.flatten()
        state = self.model.advance(choice.carry.select(parents.flatten()), previous)
        return Rows(state, scores.to(state.dtype), previous)

    def choose(self, sentences: Sentences, rows: Rows) -> Beams:
        """Predict the next words of the rows and choose the best continuations of each sentence."""
        prediction = self.model.predict(sentences.memory, rows.state, rows.previous)
        logits = prediction.logits.view(*rows.scores.shape, -1)
        too_early = sentences.taken < sentences.minimum
        forbidden = torch.stack([too_early, torch.full_like(too_early, self.forbid_unk)], dim=1)  # EOS and UNK
        normalizers, highest = summarize(logits, forbidden)
        scores = rows.scores - normalizers
        best, parents, words = best_words(scores, logits, highest, self.width)

        places = torch.arange(best.shape[1], device=best.device)
        possible = best.isfinite() & (places < sentences.open.unsqueeze(1))
        ends = words == EOS
        goes_on = possible & ~ends
        left = sentences.open - (possible & ends).sum(dim=1)
        parents = parents + scores.shape[1] * torch.arange(len(scores), device=best.device).unsqueeze(1)
        found = torch.stack([best.masked_fill(~possible, -torch.inf).double().view(torch.int64), parents, words])
        order = goes_on.byte().argsort(dim=1, descending=True, stable=True)
        chosen = Choice(
            prediction.carry,
            found.gather(2, order.expand(3, -1, -1)),
            prediction.alignment if self.alignments else None,
        )
        return Beams(replace(sentences, open=left * goes_on.any(dim=1), taken=sentences.taken + 1), chosen)


def best_words(scores: Tensor, logits: Tensor, highest: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The `count` best continuations of each sentence, best first: their scores, rows and words, (B, count) each.

    The score of a continuation is the sum of the row's, in `scores` (B, k), and the word's, in `logits` (B, k, K). The
    best words all lie in the `count` blocks with the highest maxima, which `highest` (B, k, blocks) has, so only the
    words of these blocks are sorted.
    """
    sentences, rows, symbols = logits.shape
    blocks = highest.shape[-1]
    totals = (highest + scores.unsqueeze(-1)).flatten(1)
    chosen = totals.topk(min(count, rows * blocks), dim=1).indices.unsqueeze(-1)
    parents, words = torch.broadcast_tensors(
        chosen // blocks, chosen % blocks * BLOCK + torch.arange(BLOCK, device=chosen.device)
    )
    parents, words = parents.flatten(1), words.flatten(1)
    beyond = words >= symbols
    words = words.clamp(max=symbols - 1)
    sentence = torch.arange(sentences, device=words.device).unsqueeze(1)
    totals = logits[sentence, parents, words] + scores.gather(1, parents)
    best, places = totals.masked_fill_(beyond, -torch.inf).topk(min(count, totals.shape[1]), dim=1)
    return best, parents.gather(1, places), words.gather(1, places)


def each_tensor(value: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """`value`, with each of its tensors replaced by `function` of it.

    It is a tensor, or a dataclass or a named tuple of such values; all else, like the maps of a memory, stays.
    """
    if isinstance(value, Tensor):
        return function(value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: each_tensor(getattr(value, one.name), function) for one in fields(value)})
    if hasattr(value, "_fields"):
        return type(value)(*(each_tensor(part, function) for part in value))
    return value


def tensors(value: Any) -> list[Tensor]:
    """The tensors that `each_tensor` goes through, in that order."""
    found: list[Tensor] = []

    def keep(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    each_tensor(value, keep)
    return found
