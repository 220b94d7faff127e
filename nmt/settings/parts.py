"""Settings that consist of parts, each a dataclass of its own."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_type_hints

from nmt.settings.checks import build, section

Kind = TypeVar("Kind")


@cache
def parts_of(cls: type) -> dict[str, type[Any]]:
    """The fields of `cls` that hold a dataclass, or one or None, and that dataclass."""
    found = {}
    for key, hint in get_type_hints(cls).items():
        for kind in get_args(hint) if isinstance(hint, UnionType) else [hint]:
            if isinstance(kind, type) and is_dataclass(kind):
                found[key] = kind
    return found


def build_parts(cls: type[Kind], value: Any, where: str) -> Kind:
    """As `build`, where the parts of `cls` are built of mappings, too; null leaves a part out."""
    parts = parts_of(cls)  # type: ignore[arg-type]
    whole = build(cls, value, where, others=parts)
    built = {
        name: build(kind, value[name], f"{where}.{name}")
        for name, kind in parts.items()
        if section(value, where).get(name) is not None
    }
    return replace(whole, **built)  # type: ignore[type-var]
