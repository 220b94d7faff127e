"""The settings of the paper's tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from nmt.settings.checks import Section, build_parts, flag, integer, pairs


@dataclass(frozen=True)
class Table1(Section):
    """BLEU at beam 1 and at the experiment's beam, on test and development set; it has no settings."""


@dataclass(frozen=True)
class Table2(Section):
    """The time to translate the first `sentences` sentences of the first test set (0: all)."""

    sentences: Annotated[int, integer(0)] = 0


@dataclass(frozen=True)
class Parameters(Section):
    """How many parameters each model has; it has no settings."""


PARTS: dict[str, type[Section]] = {"table1": Table1, "table2": Table2, "parameters": Parameters}


@dataclass(frozen=True)
class Settings:
    """A table that is None is left out; with `printed` the paper's numbers stand beside ours.

    `pairs` are models, each with the baseline to which its time and its number of parameters are compared.
    """

    printed: Annotated[bool, flag()] = False
    pairs: Annotated[tuple[tuple[str, str], ...], pairs()] = ()
    table1: Table1 | None = None
    table2: Table2 | None = None
    parameters: Parameters | None = None

    @classmethod
    def build(cls, value: Any, where: str) -> Settings:
        """The settings from a mapping of mappings; null leaves a table out. Raises UserError."""
        return build_parts(cls, PARTS, value, where)
