"""A trained model for Python programs: what `nmt.load` returns.

`scores` and `aligned` are what it computes for given translations; the steps score and align use them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt.corpora.shortlist import EOS_SYMBOL
from nmt.search.alignments import alignments
from nmt.search.text import to_symbols, to_words
from nmt.search.translator import Translator, checked_lines
from nmt.system.errors import UserError
from nmt.training.likelihood import sentence_nll

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nmt.trained import TrainedModel

SORTED_TOGETHER = 1000  # pairs, sorted by length so that a batch has little padding
Lines = Sequence[list[str]]


class Score(NamedTuple):
    """log p(target | source) in nats, and how many symbols it covers, words or subwords, with the end of sentence."""

    log_probability: float
    length: int


class AlignedPair(NamedTuple):
    """The attention weights (target symbols, source symbols) of a pair; the last symbol of both sides is <eos>."""

    source: list[str]
    target: list[str]
    weights: NDArray[Any]


@dataclass(frozen=True)
class Model(Translator):
    """A trained model that translates lines (`translate`, `search`), scores translations and aligns them.

    Several threads may use it at once. A pickle holds its folder and its options, and loads it again; `device` and
    `precision` are those that `nmt.load` was given.
    """

    device: str = "auto"
    precision: str = "float32"

    def score(self, sources: Iterable[str], targets: Iterable[str]) -> list[Score]:
        """log p(target | source) of each pair of lines, as `nmt score` gives it. Raises UserError as `align` does."""
        return list(scores(self.trained, *self._symbols(sources, targets)))

    def align(self, sources: Iterable[str], targets: Iterable[str]) -> list[AlignedPair]:
        """What the model attends to as it generates each target line, as `nmt align` gives it.

        Raises UserError where the context of the model is fixed, lines are no strings, or one side has more of them.
        """
        self.trained.require_attention("align")
        return aligned(self.trained, *self._symbols(sources, targets))

    def _symbols(self, *lines: Iterable[str]) -> list[list[list[str]]]:
        """The symbols of each line of both sides."""
        sides = [checked_lines(one) for one in lines]
        sizes = [len(one) for one in sides]
        if sizes[0] != sizes[1]:
            raise UserError(f"sources, targets: {sizes[0]} and {sizes[1]} lines; give as many of both")
        shortlists = (self.trained.source, self.trained.target)
        return [
            to_symbols(
                to_words(one, self.trained, side, self.tokenized), shortlists[side], ("sources", "targets")[side]
            )
            for side, one in enumerate(sides)
        ]

    def __reduce__(self) -> tuple[Callable[..., Model], tuple[Any, ...]]:
        folder = str(self.trained.folder.absolute())
        return _loaded, (folder, self.device, self.tokenized, self.precision, self.dictionary)


def _loaded(folder: str, device: str, tokenized: bool, precision: str, dictionary: Mapping[str, str] | None) -> Model:
    """The model of a pickle."""
    import nmt

    return replace(nmt.load(folder, device, tokenized=tokenized, precision=precision), dictionary=dictionary)


def scores(trained: TrainedModel, sources: Lines, targets: Lines) -> Iterator[Score]:
    """Yield the score of each pair of lines, in order. Lines are symbols without the end of sentence."""
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
