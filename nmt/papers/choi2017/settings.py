"""The settings of the paper's tables and figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from nmt.settings.checks import Section, flag, identifier, integer, names, pairs, path
from nmt.settings.project import find

GENERATED = "generated"  # in place of a file of word classes: those of the built-in language


@dataclass(frozen=True)
class Plain(Section):
    """A table without settings."""


@dataclass(frozen=True)
class Table2(Section):
    """The time to translate the first `sentences` sentences of the first test set (0: all)."""

    sentences: Annotated[int, integer(0)] = 0


@dataclass(frozen=True)
class Figure2(Section):
    """The alignments of a sentence by `models`."""

    models: Annotated[tuple[str, ...], names(1)]


@dataclass(frozen=True)
class Figure3(Section):
    """How much the first `dimensions` dimensions attend to each subword of a sentence."""

    model: Annotated[str, identifier()]
    dimensions: Annotated[int, integer(1)] = 50


@dataclass(frozen=True)
class Figure4(Section):
    """Dimensions of `model` that attend to one class of words, or to the word that `aligner` attends to.

    words: a file of the classes, or `generated`, those of the built-in language. Chance is what the best dimension
    reaches in `permutations` permutations of the classes.
    """

    model: Annotated[str, identifier()]
    aligner: Annotated[str, identifier()]
    words: Annotated[str, path()]
    permutations: Annotated[int, integer(1, 10_000)] = 200

    @property
    def files(self) -> list[str]:
        """The file of the classes; none where they are those of the built-in language."""
        return [] if self.words == GENERATED else [find(self.words)]


@dataclass(frozen=True)
class Settings:
    """A table or figure that is None is left out; with `printed` the paper's numbers stand beside ours.

    `pairs` are models, each with the baseline to which its time and its number of parameters are compared. `sentence`
    is the line of the development set, counted from 1, that the figures show.
    """

    printed: Annotated[bool, flag()] = False
    pairs: Annotated[tuple[tuple[str, str], ...], pairs()] = ()
    sentence: Annotated[int, integer(1)] = 1
    table1: Plain | None = None
    table2: Table2 | None = None
    parameters: Plain | None = None
    figure2: Figure2 | None = None
    figure3: Figure3 | None = None
    figure4: Figure4 | None = None
