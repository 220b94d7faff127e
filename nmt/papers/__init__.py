"""The papers, one a room: their tables, figures, printed numbers and captions."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def rooms() -> list[str]:
    """The names of the papers' folders, in alphabetical order."""
    return sorted(one.name for one in pkgutil.iter_modules(__path__) if one.ispkg)


def room(name: str) -> ModuleType:
    """The module nmt.papers.NAME.room, which says what the paper consists of."""
    return importlib.import_module(f"nmt.papers.{name}.room")
