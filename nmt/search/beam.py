"""Beam search for the most probable translation, as in the original code, for a minibatch of sentences at once.

At each step the `width` best continuations of a sentence's hypotheses survive. A hypothesis that ends leaves the beam,
which is then narrower by one. The search of a sentence is over when its beam is empty or when its hypotheses are three
times as long as the source. If nothing has ended by then, the fallback searches again: with the unknown word allowed,
if it was forbidden, then with a beam that is doubled until something ends or it is 500 wide. Without the fallback,
hypotheses that are cut off at this length compete with those that have ended, as in dl4mt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from nmt.corpora.padding import by_length, pad
from nmt.corpora.shortlist import EOS
from nmt.model.network import Network
from nmt.search.replay import TURN, Recording, replays_of
from nmt.search.step import Beams, Rows, Sentences, Step
from nmt.settings.sections import Translate
from nmt.system import device as devices

MAXIMUM_LENGTH_RATIO = 3  # of a search's steps to the words of its source, EOS counted
WIDE = 500  # the fallback doubles a beam until it is at least this wide


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


# Receives a function that returns the most probable unfinished hypothesis, and returns whether the search ends.
Watch = Callable[[Callable[[], Hypothesis]], bool]


@dataclass(frozen=True)
class BeamSettings:
    """The options of a search.

    `minimum_length_ratio`: EOS is forbidden until the hypothesis has this many words for each word of the source, whose
    EOS counts as one.

    `fallback`: search again for sentences without a hypothesis that has ended. Without it, hypotheses that have not
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


@dataclass(frozen=True)
class Pace:
    """How a search adapts to a device.

    `steps`: after how many steps the host checks what they have found.

    `share`: sentences whose search is over leave the batch when the others need at most this share of its places.

    `replayed`: beams keep their full width and sentences come in buckets, so that few recorded steps serve all.
    Otherwise shapes shrink with what is left.
    """

    steps: int
    share: float
    replayed: bool

    def places(self, sentences: int) -> int:
        """The places of a batch for this many sentences: in buckets, up to a quarter more, for few different sizes."""
        unit = 2 ** max(0, sentences.bit_length() - 3) if self.replayed else 1
        return sentences + -sentences % unit

    def positions(self, words: int) -> int:
        """The source positions for sentences of at most this many words."""
        return words + -words % POSITIONS if self.replayed else words


POSITIONS = 8  # in buckets, the number of source positions is a multiple
PLAIN = Pace(steps=1, share=0.75, replayed=False)  # a check costs nothing, and every row costs the same
# Each check forces a synchronization, and a step with few rows takes as long as one with many.
REPLAYED = Pace(steps=4, share=0.5, replayed=True)


def pace_of(device: torch.device) -> Pace:
    """The pace of searches on `device`."""
    return REPLAYED if device.type == "cuda" and "graphs" not in devices.SWITCHED_OFF else PLAIN


class _Search:
    """The search of some sentences: the device computes its steps, and the host keeps their results.

    The device decides which hypotheses end and which continue; the host sees this in the continuations when it checks.
    The host remembers where each hypothesis came from, and decides which sentences leave the batch.
    """

    def __init__(self, model: Network, sources: Sequence[Sequence[int]], settings: BeamSettings, pace: Pace) -> None:
        self.settings, self.pace, self.device = settings, pace, next(model.parameters()).device
        # On the host:
        # Indices of the A sentences still searched; they fill the first places of the batch.
        self.sentences = np.arange(len(sources))
        self.staying: NDArray[np.int64] | None = None  # their places, if the others leave in the next step
        self.rows = settings.width  # k, of each sentence
        self.seen = 0  # steps
        self.maximum = MAXIMUM_LENGTH_RATIO * np.array([len(source) + 1 for source in sources])
        # One entry for each step, (2, A, k): the row of the step before that each row continues, and its word.
        self.history: list[NDArray[np.int64]] = []
        self.finished: list[list[_Finished]] = [[] for _ in sources]
        self.best = 0.0  # log p of the first row
        # On the device:
        self.step = Step(model, settings.width, settings.forbid_unk, settings.alignments)
        self.recording: Recording | None = None  # of the steps, as long as their shapes stay the same
        self.unseen: list[Tensor] = []  # what was found since the last check, (3, B, k) for each step
        self.alignments: list[Tensor] = []  # one for each step, (B k, Tx)
        self._keep(self._begin(sources))

    def _begin(self, sources: Sequence[Sequence[int]]) -> Beams:
        """Choose the first words of `sources`, which have one row each."""
        model, settings = self.step.model, self.settings
        empty = self.pace.places(len(sources)) - len(sources)
        ids, mask = pad([*sources, *[()] * empty], self.device)
        more = self.pace.positions(ids.shape[1]) - ids.shape[1]
        memory = model.encode(functional.pad(ids, (0, more), value=EOS), functional.pad(mask, (0, more)))
        lengths = torch.tensor([*(len(source) + 1 for source in sources), *[0] * empty])
        limits = (
            (lengths > 0) * settings.width,
            (lengths * settings.minimum_length_ratio).long(),
            MAXIMUM_LENGTH_RATIO * lengths,
            torch.tensor(0),
        )
        sentences = Sentences(memory, *(part.to(self.device) for part in limits))
        state = model.initial_state(memory)
        return self.step.choose(sentences, Rows(state, state.new_zeros(len(lengths), 1), None))

    def advance(self) -> None:
        """Extend every hypothesis of every sentence by one word; the sentences that leave do so before."""
        if self.pace.replayed and self.recording is None and self.staying is None and self.beams.keep_shapes:
            self.recording = replays_of(self.step.model).enter(self.step, self.beams)
        if self.recording is not None:
            self._keep(self.recording())
            return
        sentences, rows = self.beams.sentences, self.step.follow(self.beams, self.rows)
        if self.staying is not None:
            sentences, rows = self._leave(self.staying, sentences, rows)
        self._keep(self.step.choose(sentences, rows))

    def _keep(self, beams: Beams) -> None:
        """Keep the results of a step. A recorded one writes to the same places again."""
        self.beams = beams
        for found, kept in ((beams.choice.found, self.unseen), (beams.choice.alignment, self.alignments)):
            if found is not None:
                kept.append(found if self.recording is None else found.clone())

    def _leave(self, staying: NDArray[np.int64], sentences: Sentences, rows: Rows) -> tuple[Sentences, Rows]:
        """Keep only the sentences `staying`; this saves more time than the copy costs."""
        self.sentences, self.maximum, self.staying = self.sentences[staying], self.maximum[staying], None
        self.rows = self._rows(self.sentences)
        self.history[-1] = self.history[-1][:, staying, : self.rows]
        places = np.resize(staying, self.pace.places(len(staying)))
        index = torch.from_numpy(places).to(self.device, non_blocking=True)
        return sentences.select(index, len(staying)), rows.select(index, self.rows)

    def look(self) -> bool:
        """Process what was found since the last check. Returns whether any sentence is still searched."""
        found = torch.cat(self.unseen, dim=2).cpu().numpy()[:, : len(self.sentences)]
        borders = np.cumsum([part.shape[2] for part in self.unseen])[:-1]
        self.unseen.clear()
        for part in np.split(found, borders, axis=2):
            going = self._take(*part)
        staying = np.flatnonzero(going & (self.seen < self.maximum))
        if self.pace.places(len(staying)) <= self.pace.share * len(self.beams.sentences.open):
            self.staying, self.recording = staying, None
        return len(staying) > 0

    def _take(self, bits: NDArray[np.int64], parents: NDArray[np.int64], words: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Process the continuations (A, k) of one step. Returns which sentences have some that continue."""
        scores = bits.view(np.float64)
        found, ends = np.isfinite(scores), words == EOS
        going = (found & ~ends).any(axis=1)

        def finish(number: int, rank: int) -> None:
            score, parent, word = (part[number, rank].item() for part in (scores, parents, words))
            self.finished[self.sentences[number]].append(_Finished(self.seen, parent, word, score))

        for number, rank in np.argwhere(found & ends).tolist():
            finish(number, rank)
        self.rows = self._rows(self.sentences[going])
        self.history.append(np.stack([parents, words])[:, :, : self.rows])
        self.best = scores[0, 0].item()
        for number in np.flatnonzero(going & (self.seen + 1 == self.maximum)).tolist():
            # The search has reached its maximum length.
            unfinished = np.flatnonzero((found & ~ends)[number]).tolist()
            if self.settings.fallback:  # if no hypothesis has ended, the best one is taken instead
                unfinished = [] if self.finished[self.sentences[number]] else unfinished[:1]
            for rank in unfinished:
                finish(number, rank)
        self.seen += 1
        return going

    def _rows(self, sentences: NDArray[np.int64]) -> int:
        """The rows that each of `sentences` needs, as long as none of its hypotheses has been cut off."""
        if self.pace.replayed:
            return self.settings.width
        return max((self.settings.width - len(self.finished[number]) for number in sentences), default=0)

    def leader(self) -> _Finished:
        """The most probable unfinished hypothesis of the first sentence, cut off here."""
        parent, word = self.history[-1][:, 0, 0].tolist()
        return _Finished(self.seen - 1, parent, word, self.best)

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


@torch.no_grad()
def search(
    model: Network, sources: Sequence[Sequence[int]], settings: BeamSettings, watch: Watch | None = None
) -> list[list[Hypothesis]]:
    """The `n_best` hypotheses of each source (word ids without EOS), best first; fewer if the search found fewer.

    With the fallback they have ended; if nothing ends even in its widest beam, the result is the best unfinished
    hypothesis of the first search. `watch`, for a single source, is called after each step. If it ends the search, the
    results are the hypotheses that have ended by then or, if none has, the most probable unfinished one.
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
    model: Network, sources: Sequence[Sequence[int]], settings: BeamSettings, watch: Watch | None
) -> list[list[Hypothesis]]:
    """As `search`, without the fallback."""
    pace = pace_of(next(model.parameters()).device)
    with TURN if pace.replayed else nullcontext():
        found = _Search(model, sources, settings, pace)
        while found.look():
            if watch is not None and watch(lambda: found.hypothesis(found.leader(), len(sources[0]) + 1)):
                found.finished[0] = found.finished[0] or [found.leader()]
                break
            for _ in range(1 if watch else pace.steps):
                found.advance()
    results = []
    for source, ends in zip(sources, found.finished, strict=True):
        best = sorted(ends, key=lambda end: end.rank(settings.normalize), reverse=True)[: settings.n_best]
        results.append([found.hypothesis(end, len(source) + 1) for end in best])
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
