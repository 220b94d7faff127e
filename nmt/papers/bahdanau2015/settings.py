"""The settings of the paper's tables and figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from nmt.evaluation.bins import Bins
from nmt.settings.checks import Section, either, flag, identifier, integer, names

TABLE3_COLUMNS = ("line", "kind", "source", "reference")  # before those of the models


@dataclass(frozen=True)
class Plain(Section):
    """A table or figure without settings."""


@dataclass(frozen=True)
class Table3(Section):
    """Translations of `sentences` source sentences of `minimum_words` words or more by two models."""

    models: Annotated[tuple[str, ...], names(2)]
    sentences: Annotated[int, integer(1)] = 3
    minimum_words: Annotated[int, integer(1)] = 30


@dataclass(frozen=True)
class Figure2(Bins):
    """BLEU by length: a curve for every variant but those left out, and one for the phrase-based system if wanted."""

    leave_out: Annotated[tuple[str, ...], names()] = ()
    phrase_based: Annotated[bool, flag()] = False


@dataclass(frozen=True)
class Figure3(Section):
    """Alignments of one model; panel (a) shows line `chosen` of the test set, counted from 1, or a drawn one.

    On newstest2014 the other panels show the paper's sentences.
    """

    model: Annotated[str, identifier()]
    chosen: Annotated[int | str, either("auto", integer(1))] = "auto"


@dataclass(frozen=True)
class Settings:
    """A table or figure that is None is left out; with `printed` the paper's numbers stand beside ours."""

    printed: Annotated[bool, flag()] = False
    table1: Plain | None = None
    table2: Plain | None = None
    table3: Table3 | None = None
    figure1: Plain | None = None
    figure2: Figure2 | None = None
    figure3: Figure3 | None = None
