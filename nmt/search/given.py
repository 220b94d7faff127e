"""What a trained model says of given translations: their log probabilities, and which source words it attends to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt.corpora.shortlist import EOS_SYMBOL
from nmt.search.alignments import alignments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nmt.trained import TrainedModel

SORTED_TOGETHER = 1000  # pairs, sorted by length so that a batch has little padding
Lines = Sequence[list[str]]


class Score(NamedTuple):
    """log p(target | source) in nats, and how many symbols it is of, words or subwords, with the end of sentence."""

    log_probability: float
    length: int


class AlignedPair(NamedTuple):
    """The attention weights (target symbols, source symbols) of a pair; the last symbol of both sides is <eos>."""

    source: list[str]
    target: list[str]
    weights: NDArray[Any]


def scores(trained: TrainedModel, sources: Lines, targets: Lines) -> Iterator[Score]:
    """Yield the score of each pair of lines, in order. Lines are symbols without the end of sentence."""
    from nmt.training.likelihood import sentence_nll  # imports PyTorch

    device = next(trained.model.parameters()).device
    for first in range(0, len(targets), SORTED_TOGETHER):
        part = slice(first, first + SORTED_TOGETHER)
        source_ids, target_ids = _ids(trained, sources[part], targets[part])
        for loss, symbols in zip(
            sentence_nll(trained.model, source_ids, target_ids, device), targets[part], strict=True
        ):
            yield Score(-loss, len(symbols) + 1)


def aligned(trained: TrainedModel, sources: Lines, targets: Lines) -> list[AlignedPair]:
    """The alignment of each pair of lines, which are symbols without the end of sentence."""
    matrices = alignments(trained.model, *_ids(trained, sources, targets))
    return [
        AlignedPair([*source, EOS_SYMBOL], [*target, EOS_SYMBOL], weights)
        for source, target, weights in zip(sources, targets, matrices, strict=True)
    ]


def _ids(trained: TrainedModel, sources: Lines, targets: Lines) -> tuple[list[list[int]], list[list[int]]]:
    return [trained.source.ids(line) for line in sources], [trained.target.ids(line) for line in targets]
