"""Beam search for the most probable translation, as in the original code, for a minibatch of sentences at once.

At each step the `width` best continuations of a sentence's hypotheses survive. A hypothesis that ends leaves the beam,
which is then narrower by one. The search of a sentence is over when its beam is empty or when its hypotheses are three
times as long as the source. If nothing has ended by then, the fallback searches again: with the unknown word allowed,
if it was forbidden, then with a beam that is doubled until something ends or it is 500 wide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from nmt.corpora.shortlist import EOS, UNK
from nmt.model.network import Network
from nmt.settings.sections import Translate
from nmt.training.batches import by_length, pad

MAXIMUM_LENGTH_RATIO = 3  # of the steps of a search to the words of its source, EOS counted
WIDE = 500  # the fallback doubles a beam until it is at least so wide
BLOCK = 256  # words; only the blocks with the highest maxima are sorted
COMPACTION = 0.75  # finished sentences leave the batch once at most this share of it is still searched


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
        """The number of words that `log_probability` covers; EOS counts where the hypothesis has ended."""
        return len(self.words) + self.ended


@dataclass(frozen=True)
class BeamSettings:
    """The options of a search.

    `minimum_length_ratio`: EOS is forbidden until the hypothesis has this many words for each word of the source,
    EOS counted on both sides.

    `fallback`: search again for the sentences for which nothing has ended.

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
    """Where a hypothesis ended or was abandoned: after `step` words, as a continuation of row `parent`."""

    step: int
    parent: int
    log_probability: float
    ended: bool = True

    def rank(self, normalize: bool) -> float:
        """The value by which the hypotheses of a sentence are ranked, highest first."""
        return self.log_probability / (self.step + self.ended) if normalize else self.log_probability


class _Beams:
    """The state of the search for the A sentences that are not finished, with k rows (hypotheses) each."""

    def __init__(self, model: Network, sources: Sequence[Sequence[int]], settings: BeamSettings) -> None:
        self.model, self.settings = model, settings
        device = next(model.parameters()).device
        lengths = torch.tensor([len(source) + 1 for source in sources], device=device)
        self.memory = model.encode(*pad(sources, device))
        self.state = model.initial_state(self.memory)
        self.previous: Tensor | None = None
        self.scores = self.state.new_zeros(len(sources), 1)  # (A, k); -inf marks an empty row
        self.sentences = torch.arange(len(sources), device=device)
        self.widths = torch.full_like(lengths, settings.width)
        self.minimum = (lengths * settings.minimum_length_ratio).long()
        self.maximum = MAXIMUM_LENGTH_RATIO * lengths
        self.step = 0
        # One entry a step, each over all sentences of the batch: the row that each row continues, and its word.
        self.parents: list[Tensor] = []
        self.words: list[Tensor] = []
        self.alignments: list[Tensor] = []
        self.finished: list[list[_Finished]] = [[] for _ in sources]

    def advance(self) -> None:
        """Extend every hypothesis of every sentence by one word."""
        sentences, rows = self.scores.shape
        prediction = self.model.predict(self.memory, self.state, self.previous)
        log_probabilities = prediction.log_probabilities.view(sentences, rows, -1)
        if self.settings.forbid_unk:
            log_probabilities[:, :, UNK] = -torch.inf
        log_probabilities[:, :, EOS].masked_fill_((self.step < self.minimum).unsqueeze(1), -torch.inf)

        best, parents, words = _best(self.scores, log_probabilities, self.settings.width)
        within = torch.arange(best.shape[1], device=best.device) < self.widths.unsqueeze(1)
        possible = within & best.isfinite()
        ended = possible & (words == EOS)
        going = possible & (words != EOS)
        self._finish(ended, parents, best)
        self.widths -= ended.sum(dim=1)
        self.widths[~going.any(dim=1)] = 0

        # Rows that continue move to the front and stay ordered by score.
        order = torch.argsort((~going).to(torch.int8), dim=1, stable=True)[:, : max(1, int(self.widths.max()))]
        self.scores = best.masked_fill(~going, -torch.inf).gather(1, order)
        parents, words = parents.gather(1, order), words.gather(1, order)
        self._remember(parents, words, prediction.alignment)
        flat = (parents + rows * torch.arange(sentences, device=parents.device).unsqueeze(1)).flatten()
        self.previous = words.flatten()
        self.state = self.model.advance(prediction.carry.select(flat), self.previous)
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
            weights = alignment.view(len(self.sentences), -1, alignment.shape[-1])
            everywhere = weights.new_zeros(everyone, *weights.shape[1:])
            self.alignments.append(everywhere.index_copy_(0, self.sentences, weights).cpu())

    def _leave(self, staying: Tensor) -> None:
        """Remove finished sentences from the batch once that saves more time than the copying costs."""
        for number in ((~staying) & (self.widths > 0)).nonzero().flatten().tolist():
            # The search has reached its maximum length. The best row stands in where no hypothesis has ended.
            sentence = int(self.sentences[number])
            if not self.finished[sentence]:
                self.finished[sentence].append(_Finished(self.step, 0, float(self.scores[number, 0]), False))
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

    def hypothesis(self, sentence: int, end: _Finished, positions: int) -> Hypothesis:
        """Trace a finished hypothesis back to its first word; its alignment covers the first `positions` columns."""
        words: list[int] = []
        weights: list[Tensor] = []
        row = end.parent
        for step in reversed(range(end.step + 1)):
            if self.alignments and step < end.step + end.ended:
                weights.append(self.alignments[step][sentence, row, :positions])
            if step > 0:
                words.append(int(self.words[step - 1][sentence, row]))
                row = int(self.parents[step - 1][sentence, row])
        alignment = torch.stack(weights[::-1]) if weights else None
        return Hypothesis(words[::-1], end.log_probability, end.ended, alignment)


def _best(scores: Tensor, log_probabilities: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The `count` best continuations of each sentence, best first: their scores, rows and words, (A, count) each.

    `scores` (A, k) are those of the rows, `log_probabilities` (A, k, K) those of the words that may follow. The best
    words all lie in the `count` blocks with the highest maxima, so that only the words of these blocks are sorted.
    """
    sentences, rows, symbols = log_probabilities.shape
    full, rest = divmod(symbols, BLOCK)
    highest = log_probabilities[..., : full * BLOCK].unflatten(-1, (full, BLOCK)).amax(dim=-1)
    if rest:
        highest = torch.cat([highest, log_probabilities[..., -rest:].amax(dim=-1, keepdim=True)], dim=-1)
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
    totals = log_probabilities[sentence, parents, words] + scores.gather(1, parents)
    best, places = totals.masked_fill_(beyond, -torch.inf).topk(min(count, totals.shape[1]), dim=1)
    return best, parents.gather(1, places), words.gather(1, places)


@torch.no_grad()
def search(model: Network, sources: Sequence[Sequence[int]], settings: BeamSettings) -> list[list[Hypothesis]]:
    """The `n_best` finished hypotheses of each source (word ids without EOS), best first; fewer where fewer ended.

    Where nothing ends, even in the widest beam of the fallback, the best unfinished hypothesis of the first search
    stands in.
    """
    results = _search_once(model, sources, settings)
    rows = len(sources) * settings.width
    for again in _fallbacks(settings) if settings.fallback else ():
        left = [number for number, found in enumerate(results) if not _has_ended(found)]
        size = max(1, rows // again.width)  # fewer sentences at a time, so that wider beams need no more memory
        for start in range(0, len(left), size):
            chosen = left[start : start + size]
            searched = _search_once(model, [sources[number] for number in chosen], again)
            for number, found in zip(chosen, searched, strict=True):
                if _has_ended(found):
                    results[number] = found
    return results


def _search_once(model: Network, sources: Sequence[Sequence[int]], settings: BeamSettings) -> list[list[Hypothesis]]:
    """As `search`, without the fallback."""
    beams = _Beams(model, sources, settings)
    while len(beams.sentences) and bool((beams.widths > 0).any()):
        beams.advance()
    results = []
    for sentence, (source, ends) in enumerate(zip(sources, beams.finished, strict=True)):
        best = sorted(ends, key=lambda end: end.rank(settings.normalize), reverse=True)[: settings.n_best]
        results.append([beams.hypothesis(sentence, end, len(source) + 1) for end in best])
    return results


def _fallbacks(settings: BeamSettings) -> Iterator[BeamSettings]:
    """The settings of the searches that may follow, in the original code's order."""
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
