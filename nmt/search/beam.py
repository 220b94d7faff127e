"""Beam search for the most probable translation, as in the original code, for a minibatch of sentences at once.

At each step the `width` best continuations of a sentence's hypotheses survive. A hypothesis that ends leaves the beam,
which is then narrower by one. The search of a sentence is over when its beam is empty or when its hypotheses are three
times as long as the source. If nothing has ended by then, the fallback searches again: with the unknown word allowed,
if it was forbidden, then with a beam that is doubled until something ends or it is 500 wide. Without the fallback,
hypotheses that are cut off at this length compete with those that have ended, as in dl4mt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.corpora.padding import by_length, pad
from nmt.corpora.shortlist import EOS, UNK
from nmt.model.memory import Carry
from nmt.model.network import Network
from nmt.settings.sections import Translate

MAXIMUM_LENGTH_RATIO = 3  # of a search's steps to the words of its source, EOS counted
WIDE = 500  # the fallback doubles a beam until it is at least this wide
BLOCK = 256  # words; only the blocks with the highest maxima are sorted
COMPACTION = 0.75  # finished sentences leave the batch when at most this share of it is still being searched


@dataclass(frozen=True)
class Hypothesis:
    """A translation: its word ids without EOS, and log p(y | x), EOS included.

    A hypothesis that has not `ended` is the beginning of a translation, without EOS. `alignment`, kept on request,
    holds alpha_ij (length, Tx) of Eq. (6).
    """

    words: list[int]
    log_probability: float
    ended: bool = True
    alignment: Tensor | None = None

    @property
    def length(self) -> int:
        """The number of words that `log_probability` covers; EOS counts if the hypothesis has ended."""
        return len(self.words) + self.ended


Watch = Callable[[Callable[[], Hypothesis]], None]  # receives a function that returns the best hypothesis so far


@dataclass(frozen=True)
class BeamSettings:
    """The options of a search.

    `minimum_length_ratio`: EOS is forbidden until the hypothesis has this many words for each word of the source, whose
    EOS counts as one.

    `fallback`: search again for the sentences of which no hypothesis has ended. Without it, hypotheses that have not
    ended at the maximum length are results like the others.

    `normalize`: rank hypotheses by log probability per word, EOS counted, instead of by total log probability.

    `n_best`: how many hypotheses to return for each sentence.

    `alignments`: keep the alignment of each hypothesis.
    """

    width: int = Translate.beam
    forbid_unk: bool = False
    minimum_length_ratio: float = Translate.minimum_length_ratio
    fallback: bool = Translate.fallback
    normalize: bool = False
    n_best: int = 1
    alignments: bool = False


@dataclass
class _Finished:
    """The last word of a hypothesis that ended or was cut off: `word` in step `step` continued row `parent`."""

    step: int
    parent: int
    word: int
    log_probability: float

    def rank(self, normalize: bool) -> float:
        """The value by which the hypotheses of a sentence are ranked, highest first."""
        return self.log_probability / (self.step + 1) if normalize else self.log_probability


class _Continuations(NamedTuple):
    """The best continuations of each sentence, best first, on the host: (A, width). Parents number all A k rows."""

    scores: NDArray[np.float64]
    parents: NDArray[np.int64]
    words: NDArray[np.int64]


class _Beams:
    """The state of the search for the A sentences that are not finished, with k rows (hypotheses) each.

    The device has what the model needs. The host decides what ends, continues and leaves. So a step waits for the
    device once, when the best continuations come to the host in one tensor; those that continue return in another.
    """

    def __init__(self, model: Network, sources: Sequence[Sequence[int]], settings: BeamSettings) -> None:
        self.model, self.settings = model, settings
        self.device = next(model.parameters()).device
        lengths = torch.tensor([len(source) + 1 for source in sources])
        self.step = 0
        # On the device:
        self.memory = model.encode(*pad(sources, self.device))
        self.state = model.initial_state(self.memory)
        self.previous: Tensor | None = None
        self.scores = self.state.new_zeros(len(sources), 1)  # (A, k); -inf marks an empty row
        self.minimum = (lengths * settings.minimum_length_ratio).long().to(self.device)
        self.alignments: list[Tensor] = []  # one for each step, (A k, Tx)
        # On the host:
        self.sentences = np.arange(len(sources))
        self.widths = np.full(len(sources), settings.width)
        self.maximum = MAXIMUM_LENGTH_RATIO * lengths.numpy()
        # One entry for each step, (2, A, k): the row of the step before that each row continues, and its word.
        self.history: list[NDArray[np.int64]] = []
        self.finished: list[list[_Finished]] = [[] for _ in sources]

    def advance(self) -> None:
        """Extend every hypothesis of every sentence by one word."""
        sentences, rows = self.scores.shape
        prediction = self.model.predict(self.memory, self.state, self.previous)
        scores = self.scores - prediction.log_normalizers().view(sentences, rows)
        logits = prediction.logits.view(sentences, rows, -1)
        if self.settings.forbid_unk:
            logits[:, :, UNK] = -torch.inf
        logits[:, :, EOS].masked_fill_((self.step < self.minimum).unsqueeze(1), -torch.inf)
        if self.settings.alignments and prediction.alignment is not None:
            self.alignments.append(prediction.alignment)

        best, parents, words = _best(scores, logits, self.settings.width)
        packed = torch.stack([best.double().view(torch.int64), parents, words]).cpu().numpy()
        first_rows = rows * np.arange(sentences)[:, np.newaxis]
        found = _Continuations(packed[0].view(np.float64), packed[1] + first_rows, packed[2])
        going = self._end(found)
        self.step += 1
        staying = (self.widths > 0) & (self.step < self.maximum)
        if staying.any():
            self._continue(prediction.carry, found, going, staying)
        else:
            self.widths[:] = 0

    def _end(self, found: _Continuations) -> NDArray[np.bool_]:
        """Narrow the beams by the hypotheses that end. Returns which continuations do not end, (A, width)."""
        possible = (np.arange(found.words.shape[1]) < self.widths[:, np.newaxis]) & np.isfinite(found.scores)
        ended = possible & (found.words == EOS)
        going = possible & (found.words != EOS)
        for number, rank in np.argwhere(ended).tolist():
            self._finish(found, number, rank)
        self.widths -= ended.sum(axis=1)
        self.widths[~going.any(axis=1)] = 0
        for number in np.flatnonzero((self.widths > 0) & (self.step + 1 == self.maximum)).tolist():
            # The search has reached its maximum length.
            unfinished = np.flatnonzero(going[number]).tolist()
            if self.settings.fallback:  # the best one stands in where no hypothesis has ended
                unfinished = [] if self.finished[self.sentences[number]] else unfinished[:1]
            for rank in unfinished:
                self._finish(found, number, rank)
        return going

    def _finish(self, found: _Continuations, number: int, rank: int) -> None:
        score, parent, word = (part[number, rank].item() for part in found)
        self.finished[self.sentences[number]].append(_Finished(self.step, parent, word, score))

    def _continue(
        self, carry: Carry, found: _Continuations, going: NDArray[np.bool_], staying: NDArray[np.bool_]
    ) -> None:
        """Advance the model by the words of the remaining continuations, in the remaining sentences."""
        # They move to the front and stay ordered by score.
        order = np.argsort(~going, axis=1, kind="stable")[:, : self.widths.max()]
        scores = np.where(going & staying[:, np.newaxis], found.scores, -np.inf)
        parts = (found.parents, found.words, scores.view(np.int64))
        packed = np.stack([np.take_along_axis(part, order, axis=1) for part in parts])
        self.history.append(packed[:2])
        parents, words, bits = torch.from_numpy(packed).to(self.device, non_blocking=True)
        self.previous = words.flatten()
        self.scores = bits.view(torch.float64).to(self.scores.dtype)
        self.state = self.model.advance(carry.select(parents.flatten()), self.previous)
        self.widths[~staying] = 0
        if staying.sum() <= COMPACTION * len(staying):
            self._leave(np.flatnonzero(staying))

    def _leave(self, keep: NDArray[np.int64]) -> None:
        """Remove all sentences except `keep` from the batch, which saves more time than the copying costs."""
        self.sentences, self.widths, self.maximum = self.sentences[keep], self.widths[keep], self.maximum[keep]
        width = self.widths.max()
        self.history[-1] = self.history[-1][:, keep, :width]
        index = torch.from_numpy(keep).to(self.device, non_blocking=True)
        sentences, rows = self.scores.shape
        assert self.previous is not None
        self.state = self.state.view(sentences, rows, -1)[index, :width].flatten(0, 1)
        self.previous = self.previous.view(sentences, rows)[index, :width].flatten()
        self.scores = self.scores[index, :width]
        self.memory, self.minimum = self.memory.select(index), self.minimum[index]

    def leader(self, positions: int) -> Hypothesis:
        """The most probable unfinished hypothesis of the first sentence, as `hypothesis` gives it."""
        parent, word = self.history[-1][:, 0, 0].tolist()
        return self.hypothesis(_Finished(self.step - 1, parent, word, self.scores[0, 0].item()), positions)

    def hypothesis(self, end: _Finished, positions: int) -> Hypothesis:
        """Trace a finished hypothesis back to its first word; its alignment covers the first `positions` columns."""
        rows, words = [end.parent], [end.word]  # the last word first
        for parents, continued in (part.reshape(2, -1) for part in reversed(self.history[: end.step])):
            words.append(int(continued[rows[-1]]))
            rows.append(int(parents[rows[-1]]))
        weights = [part[row, :positions] for part, row in zip(self.alignments, reversed(rows), strict=False)]
        alignment = torch.stack(weights).cpu() if weights else None
        ended = end.word == EOS
        return Hypothesis(words[:0:-1] if ended else words[::-1], end.log_probability, ended, alignment)


def _best(scores: Tensor, logits: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The `count` best continuations of each sentence, best first: their scores, rows and words, (A, count) each.

    The score of a continuation is the sum of the row's, in `scores` (A, k), and the word's, in `logits` (A, k, K). The
    best words all lie in the `count` blocks with the highest maxima, so only the words of these blocks are sorted.
    """
    sentences, rows, symbols = logits.shape
    full, rest = divmod(symbols, BLOCK)
    highest = logits[..., : full * BLOCK].unflatten(-1, (full, BLOCK)).amax(dim=-1)
    if rest:
        highest = torch.cat([highest, logits[..., -rest:].amax(dim=-1, keepdim=True)], dim=-1)
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


@torch.no_grad()
def search(
    model: Network,
    sources: Sequence[Sequence[int]],
    settings: BeamSettings,
    watch: Watch | None = None,
) -> list[list[Hypothesis]]:
    """The `n_best` hypotheses of each source (word ids without EOS), best first; fewer where it found fewer.

    With the fallback they have ended; if nothing ends even in its widest beam, the result is the best unfinished
    hypothesis of the first search. `watch`, for a single source, is called after each step; if it raises, the search
    ends.
    """
    results = _search_once(model, sources, settings, watch)
    rows = len(sources) * settings.width
    for again in _fallbacks(settings) if settings.fallback else ():
        left = [number for number, found in enumerate(results) if not _has_ended(found)]
        size = max(1, rows // again.width)  # fewer sentences at a time, so that wider beams need no more memory
        for start in range(0, len(left), size):
            chosen = left[start : start + size]
            searched = _search_once(model, [sources[number] for number in chosen], again, watch)
            for number, found in zip(chosen, searched, strict=True):
                if _has_ended(found):
                    results[number] = found
    return results


def _search_once(
    model: Network,
    sources: Sequence[Sequence[int]],
    settings: BeamSettings,
    watch: Watch | None,
) -> list[list[Hypothesis]]:
    """As `search`, without the fallback."""
    beams = _Beams(model, sources, settings)
    while beams.widths.any():
        beams.advance()
        if watch is not None and beams.widths.any():
            watch(partial(beams.leader, len(sources[0]) + 1))
    results = []
    for source, ends in zip(sources, beams.finished, strict=True):
        best = sorted(ends, key=lambda end: end.rank(settings.normalize), reverse=True)[: settings.n_best]
        results.append([beams.hypothesis(end, len(source) + 1) for end in best])
    return results


def _fallbacks(settings: BeamSettings) -> Iterator[BeamSettings]:
    """The settings of the searches that may follow the first, in the original code's order."""
    if settings.forbid_unk:
        settings = replace(settings, forbid_unk=False)
        yield settings
    while settings.width < WIDE:
        settings = replace(settings, width=2 * settings.width)
        yield settings


def _has_ended(hypotheses: Sequence[Hypothesis]) -> bool:
    return any(one.ended for one in hypotheses)


def search_all(
    model: Network, sources: Sequence[Sequence[int]], batch: int, settings: BeamSettings
) -> Iterator[tuple[int, list[Hypothesis]]]:
    """Yield the index and the hypotheses of every source that is not empty, long sources first, `batch` at a time."""
    indices = [index for index, source in enumerate(sources) if source]
    for places in by_length([len(sources[index]) for index in indices], batch):
        chosen = [indices[place] for place in places]
        yield from zip(chosen, search(model, [sources[index] for index in chosen], settings), strict=True)
