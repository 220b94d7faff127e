"""Beam search for the translation of highest probability, as in the original code, a minibatch of sentences at once.

At every step the best `width` continuations of a sentence's hypotheses survive. One that ends leaves the beam, which
is narrower by one from then on; the search is over when the beam is empty or three times as long as the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from nmt.corpora.shortlist import EOS, UNK
from nmt.model.network import Network
from nmt.training.batches import pad

STEPS_A_WORD = 3  # of the source, its end of sentence counted
COMPACTION = 0.75  # finished sentences leave the batch once the rest is this share of it


@dataclass(frozen=True)
class Hypothesis:
    """A translation: its word ids without EOS, log p(y | x) with it, and on request alpha (words + 1, Tx)."""

    words: list[int]
    log_probability: float
    alignment: Tensor | None = None


@dataclass(frozen=True)
class BeamSettings:
    """How to search.

    `minimum_length_ratio`: EOS is forbidden before this share of the source's words, EOS counted, is reached.

    `normalize`: rank finished hypotheses by log probability per word, EOS counted, rather than in all.
    """

    width: int = 12
    forbid_unk: bool = False
    minimum_length_ratio: float = 0.5
    normalize: bool = False
    alignments: bool = False


@dataclass
class _Finished:
    """Where a hypothesis ended: at which step, from which row of the beam."""

    step: int
    parent: int
    log_probability: float


class _Beams:
    """The state of the search for the sentences still in it: A sentences with k rows each."""

    def __init__(self, model: Network, sources: Sequence[Sequence[int]], settings: BeamSettings) -> None:
        self.model, self.settings = model, settings
        device = next(model.parameters()).device
        lengths = torch.tensor([len(source) + 1 for source in sources], device=device)
        self.memory = model.encode(*pad(sources, device))
        self.state = model.initial_state(self.memory)
        self.previous: Tensor | None = None
        self.scores = self.state.new_zeros(len(sources), 1)  # (A, k); -inf marks a row that holds no hypothesis
        self.sentences = torch.arange(len(sources), device=device)
        self.widths = torch.full_like(lengths, settings.width)
        self.minimum = (lengths * settings.minimum_length_ratio).long()
        self.maximum = STEPS_A_WORD * lengths
        self.step = 0
        # For every step so far, for all sentences of the batch: which row a row came from, and by which word.
        self.parents: list[Tensor] = []
        self.words: list[Tensor] = []
        self.alignments: list[Tensor] = []
        self.finished: list[list[_Finished]] = [[] for _ in sources]

    def advance(self) -> None:
        """Take one step with every hypothesis of every sentence."""
        sentences, rows = self.scores.shape
        prediction = self.model.predict(self.memory, self.state, self.previous)
        log_probabilities = prediction.log_probabilities.view(sentences, rows, -1)
        if self.settings.forbid_unk:
            log_probabilities[:, :, UNK] = -torch.inf
        log_probabilities[:, :, EOS].masked_fill_((self.step < self.minimum).unsqueeze(1), -torch.inf)

        symbols = log_probabilities.shape[-1]
        totals = (self.scores.unsqueeze(-1) + log_probabilities).flatten(1)
        best, places = totals.topk(min(self.settings.width, totals.shape[1]), dim=1)
        parents, words = places // symbols, places % symbols
        within = torch.arange(best.shape[1], device=best.device) < self.widths.unsqueeze(1)
        possible = within & best.isfinite()
        ended = possible & (words == EOS)
        going = possible & (words != EOS)
        self._finish(ended, parents, best)
        self.widths -= ended.sum(dim=1)
        self.widths[~going.any(dim=1)] = 0

        # Rows that go on move to the front, in the order of their scores.
        order = torch.argsort((~going).to(torch.int8), dim=1, stable=True)[:, : max(1, int(self.widths.max()))]
        self.scores = best.masked_fill(~going, -torch.inf).gather(1, order)
        parents, words = parents.gather(1, order), words.gather(1, order)
        self._remember(parents, words, prediction.alignment)
        flat = (parents + rows * torch.arange(sentences, device=parents.device).unsqueeze(1)).flatten()
        self.previous = words.flatten()
        self.state = self.model.advance(self.memory, prediction.carry.select(flat), self.previous)
        self.step += 1
        self._leave((self.widths > 0) & (self.step < self.maximum))

    def _finish(self, ended: Tensor, parents: Tensor, best: Tensor) -> None:
        numbers, ranks = ended.nonzero(as_tuple=True)
        ends = zip(
            self.sentences[numbers].tolist(), parents[ended].tolist(), best[numbers, ranks].tolist(), strict=True
        )
        for sentence, parent, score in ends:
            self.finished[sentence].append(_Finished(self.step, parent, score))

    def _remember(self, parents: Tensor, words: Tensor, alignment: Tensor | None) -> None:
        everyone = len(self.finished)
        for history, new in ((self.parents, parents), (self.words, words)):
            history.append(new.new_zeros(everyone, new.shape[1]).index_copy_(0, self.sentences, new).cpu())
        if self.settings.alignments and alignment is not None:
            looks = alignment.view(len(self.sentences), -1, alignment.shape[-1])
            everywhere = looks.new_zeros(everyone, *looks.shape[1:])
            self.alignments.append(everywhere.index_copy_(0, self.sentences, looks).cpu())

    def _leave(self, staying: Tensor) -> None:
        """Let finished sentences out of the batch, once that saves more work than the copying costs."""
        for number in ((~staying) & (self.widths > 0)).nonzero().flatten().tolist():
            # Too long: nothing more is expected of it. Its best row stands in where none has ended.
            sentence = int(self.sentences[number])
            if not self.finished[sentence]:
                self.finished[sentence].append(_Finished(self.step, 0, float(self.scores[number, 0])))
        self.widths = self.widths.masked_fill(~staying, 0)
        self.scores = self.scores.masked_fill(~staying.unsqueeze(1), -torch.inf)
        if int(staying.sum()) > COMPACTION * len(staying):
            return
        rows = self.scores.shape[1]
        keep = staying.nonzero().flatten()
        width = max(1, int(self.widths.max())) if len(keep) else 1
        self.memory = self.memory.select(keep)
        self.state = self.state.view(len(staying), rows, -1)[keep, :width].flatten(0, 1)
        assert self.previous is not None
        self.previous = self.previous.view(len(staying), rows)[keep, :width].flatten()
        self.scores = self.scores[keep, :width]
        self.sentences, self.widths = self.sentences[keep], self.widths[keep]
        self.minimum, self.maximum = self.minimum[keep], self.maximum[keep]

    def hypothesis(self, sentence: int, end: _Finished) -> Hypothesis:
        """Follow a finished hypothesis back to its first word."""
        words: list[int] = []
        looks: list[Tensor] = []
        row = end.parent
        for step in reversed(range(end.step + 1)):
            if self.alignments and step < len(self.alignments):
                looks.append(self.alignments[step][sentence, row])
            if step > 0:
                words.append(int(self.words[step - 1][sentence, row]))
                row = int(self.parents[step - 1][sentence, row])
        alignment = torch.stack(looks[::-1]) if looks else None
        return Hypothesis(words[::-1], end.log_probability, alignment)


@torch.no_grad()
def search(model: Network, sources: Sequence[Sequence[int]], settings: BeamSettings) -> list[list[Hypothesis]]:
    """The finished hypotheses of each source (word ids without EOS), best first; never none.

    Where no hypothesis has ended within three times the source's length, the best unfinished one stands in.
    """
    beams = _Beams(model, sources, settings)
    while len(beams.sentences) and bool((beams.widths > 0).any()):
        beams.advance()
    results = []
    for sentence, ends in enumerate(beams.finished):
        hypotheses = [beams.hypothesis(sentence, end) for end in ends]
        hypotheses.sort(key=lambda one: _rank(one, settings.normalize), reverse=True)
        positions = len(sources[sentence]) + 1
        results.append(
            [
                one if one.alignment is None else replace(one, alignment=one.alignment[:, :positions])
                for one in hypotheses
            ]
        )
    return results


def _rank(hypothesis: Hypothesis, normalize: bool) -> float:
    if normalize:
        return hypothesis.log_probability / (len(hypothesis.words) + 1)
    return hypothesis.log_probability
