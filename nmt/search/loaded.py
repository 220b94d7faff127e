"""A trained model for Python programs: what `nmt.load` returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nmt.search.given import AlignedPair, Score, aligned, scores
from nmt.search.text import to_symbols, to_words
from nmt.search.translator import Translator, checked_lines
from nmt.system.files import UserError


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
