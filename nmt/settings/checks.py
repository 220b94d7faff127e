"""Strict settings: what a value may be, and frozen dataclasses built from mappings that hold nothing else.

A field is declared as `beam: Annotated[int, integer(1)] = 12`: its type, its check and, where it may be left
out, its default. `build` raises `UserError` with one line that names the key and what is expected there.
"""

from __future__ import annotations

import argparse
import difflib
import json
import math
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
from datetime import date
from functools import cache
from os.path import expanduser, normpath
from pathlib import Path
from types import UnionType
from typing import Any, Self, TypeVar, get_args, get_type_hints

from nmt.system.errors import UserError
from nmt.system.text import read_json

Kind = TypeVar("Kind")
LARGEST = 10**15 - 1  # whole numbers that every part of the computation holds exactly
IS_TEXT = "; it is in quotes, or within --config, where Snakemake reads it as text: write it without quotes, in a file"
SMALLEST_SINGLE, LARGEST_SINGLE = 2.0**-126, (2 - 2.0**-23) * 2.0**127  # positive numbers of float32 in full precision
LONGEST = 1000  # characters of a text
MOST_SEEDS = 1000
PLAIN = f"in the locale's characters, {LONGEST} at most, without {{ }} < > \\ and not beginning with a hyphen"
UNPLAIN = re.compile(r"^-|[\x00-\x1f\x7f-\x9f\u2028\u2029{}<>\\]")


@dataclass(frozen=True)
class Check:
    """What a setting may hold: `accepts` decides, `expected` says it in words, `schema` in JSON Schema.

    The schema may accept what the check refuses, never the reverse. `form` converts an accepted value to the
    one that is used: 1 to the number 1.0, and ~ in a path to the user's home.
    """

    expected: str
    accepts: Callable[[Any], bool]
    schema: Mapping[str, Any] = field(default_factory=dict)
    form: Callable[[Any], Any] = lambda value: tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Neutral:
    """The value of a setting that leaves everything as it was before the setting existed."""

    value: Any


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_SINGLE


def _real(value: float) -> float:
    """The number that 1 and 1.0, or 0.0 and -0.0, stand for."""
    return float(value) + 0.0


def _is_list(value: Any, accepts: Callable[[Any], bool]) -> bool:
    return isinstance(value, list | tuple) and all(map(accepts, value))


def _is_section(value: Any, accepts: Callable[[Any], bool]) -> bool:
    return isinstance(value, Mapping) and all(map(accepts, value.values()))


def integer(minimum: int, maximum: int = LARGEST) -> Check:
    """A whole number, at least `minimum` and at most `maximum`."""
    expected = f"{minimum} or more" if maximum == LARGEST else f"from {minimum} to {maximum}"
    return Check(
        f"a whole number, {expected}",
        lambda value: isinstance(value, int) and not isinstance(value, bool) and minimum <= value <= maximum,
        {"type": "integer", "minimum": minimum, "maximum": maximum},
    )


def finite(minimum: float = -math.inf) -> Check:
    """A number of float32, at least `minimum`."""
    words = "a number" + ("" if minimum == -math.inf else f", {minimum:g} or more")
    schema = {"type": "number", "minimum": max(minimum, -LARGEST_SINGLE), "maximum": LARGEST_SINGLE}
    return Check(words, lambda value: _is_number(value) and minimum <= value, schema, _real)


def positive(below: float = math.inf) -> Check:
    """A number above zero and, where given, below `below`, that float32 holds in full precision."""
    words = "a number above 0" + ("" if below == math.inf else f" and below {below:g}")
    schema = {"type": "number", "minimum": SMALLEST_SINGLE, "maximum": LARGEST_SINGLE}
    if below < math.inf:
        schema["exclusiveMaximum"] = below
    return Check(words, lambda value: _is_number(value) and SMALLEST_SINGLE <= value < below, schema, _real)


def between(minimum: float, maximum: float) -> Check:
    """A number from `minimum` to `maximum`."""
    return Check(
        f"a number from {minimum:g} to {maximum:g}",
        lambda value: _is_number(value) and minimum <= value <= maximum,
        {"type": "number", "minimum": minimum, "maximum": maximum},
        _real,
    )


def probability(bits: int) -> Check:
    """0, or a probability below 1 that random numbers of this many bits can express."""
    numbers = 2**bits
    above = between(1 / numbers, 1 - 1 / numbers)
    return Check(
        f"0, or a number from 1/{numbers} to {numbers - 1}/{numbers}",
        lambda value: above.accepts(value) or (_is_number(value) and value == 0),
        {"anyOf": [{"const": 0}, above.schema]},
        _real,
    )


def fraction() -> Check:
    """A number from 0 to 1."""
    return between(0, 1)


def choice(*values: str) -> Check:
    """One of `values`."""
    expected = "one of " + ", ".join(values)
    return Check(expected, lambda value: isinstance(value, str) and value in values, {"enum": list(values)})


def is_plain(value: str) -> bool:
    """Whether a text may stand in file names and commands of the workflow, as `PLAIN` says.

    Snakemake replaces what is in braces and angle brackets, and a hyphen would begin an option.
    """
    try:
        value.encode(sys.getfilesystemencoding())
    except UnicodeEncodeError:
        return False
    return len(value) <= LONGEST and not UNPLAIN.search(value)


def matching(pattern: str, expected: str) -> Check:
    """A string that matches `pattern` from end to end."""
    schema = {"type": "string", "pattern": f"^(?:{pattern})$"}
    return Check(expected, lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None, schema)


def text(minimum: int = 1) -> Check:
    """A text of `minimum` characters or more in which `is_plain` finds no fault."""
    return Check(
        f"text {PLAIN}",
        lambda value: isinstance(value, str) and len(value) >= minimum and is_plain(value),
        {"type": "string", "minLength": minimum, "maxLength": LONGEST, "not": {"pattern": UNPLAIN.pattern}},
    )


def folder() -> Check:
    """The path of a folder that is made."""
    pattern = r"^\s|\s$|/$|//|(^|/)\.\.?(/|$)"
    return Check(
        f"a folder {PLAIN}, with no . or .. in it and no slash or space at its end",
        lambda value: text().accepts(value) and not re.search(pattern, value),
        {**text().schema, "not": {"pattern": f"{UNPLAIN.pattern}|{pattern}"}},
        expanduser,
    )


def path() -> Check:
    """The path of a file or a folder."""
    return replace(text(), form=expanduser)


def identifier() -> Check:
    """A string that may be a part of a file's name."""
    return matching(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", "a name of letters, digits, - and _, at most 100")


def flag() -> Check:
    """True or false."""
    return Check("true or false", lambda value: isinstance(value, bool), {"type": "boolean"})


def names(minimum: int = 0) -> Check:
    """A list of at least `minimum` different strings."""
    return Check(
        "a list of different names" + (f", {minimum} or more" if minimum else ""),
        lambda value: (
            _is_list(value, lambda one: isinstance(one, str) and one != "") and len(set(value)) == len(value) >= minimum
        ),
        {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": True, "minItems": minimum},
    )


def file_pairs(minimum: int = 0) -> Check:
    """A list of at least `minimum` pairs of different paths, one pair after the other."""
    path = text()
    return Check(
        "a list of files, source and target, two different ones for each corpus, as [a.en, a.de] or [a.tsv:1, a.tsv:2]"
        + (", one corpus or more" if minimum else "")
        + f", each {PLAIN}",
        lambda value: (
            _is_list(value, lambda one: path.accepts(one) and "://" not in one)
            and len(value) % 2 == 0
            and len(value) >= 2 * minimum
            and all(normpath(one) != normpath(other) for one, other in zip(value[::2], value[1::2], strict=True))
        ),
        {"type": "array", "items": path.schema, "minItems": 2 * minimum},
    )


def fractions() -> Check:
    """A section of names with a number from 0 to 1 each."""
    return Check(
        "a number from 0 to 1 for each of some names",
        lambda value: _is_section(value, fraction().accepts) and all(isinstance(one, str) for one in value),
        {"type": "object", "additionalProperties": fraction().schema},
        lambda value: {name: _real(value[name]) for name in sorted(value)},
    )


def pairs() -> Check:
    """A list of pairs of different names, each pair once."""
    return Check(
        "a list of pairs of different names, such as [[a, b]], each pair once",
        lambda value: (
            _is_list(value, lambda pair: names(2).accepts(pair) and len(pair) == 2)
            and len(set(map(frozenset, value))) == len(value)
        ),
        {"type": "array", "items": {**names(2).schema, "maxItems": 2}, "uniqueItems": True},
    )


def each(names: Collection[str], check: Check) -> Check:
    """A section of exactly these names, each with what `check` accepts."""
    return Check(
        f"{check.expected} for each of {', '.join(names)}",
        lambda value: _is_section(value, check.accepts) and value.keys() == set(names),
        {
            "type": "object",
            "properties": dict.fromkeys(names, check.schema),
            "required": list(names),
            "additionalProperties": False,
        },
    )


def either(word: str, check: Check) -> Check:
    """Exactly this word, or what `check` accepts."""
    return Check(
        f"{word} or {check.expected}",
        lambda value: value == word or check.accepts(value),
        {"anyOf": [{"const": word}, check.schema]},
    )


def seed() -> Check:
    """A seed. PyTorch's random numbers on a CPU depend on 32 bits of it: with more, two seeds might draw the same."""
    return integer(0, 2**32 - 1)


def seeds() -> Check:
    """How many seeds, or a list of different ones."""
    count, one = integer(1, MOST_SEEDS), seed()
    return Check(
        f"how many seeds, {count.expected}, or a list of different seeds",
        lambda value: count.accepts(value) or (_is_list(value, one.accepts) and len({*value}) == len(value) > 0),
        {"anyOf": [count.schema, {"type": "array", "items": one.schema, "uniqueItems": True, "minItems": 1}]},
    )


def optional(check: Check) -> Check:
    """What `check` accepts, or null."""
    return Check(
        f"{check.expected}, or null",
        lambda value: value is None or check.accepts(value),
        {"anyOf": [{"type": "null"}, check.schema]},
        lambda value: None if value is None else check.form(value),
    )


def unknown(key: object, known: Iterable[str], where: str, noun: str = "setting") -> UserError:
    """The error for a name that is not among `known`, with the nearest of them."""
    return UserError(f"{where}: unknown {noun} {key}{nearest(key, known)}")


def nearest(key: object, known: Iterable[str]) -> str:
    """The end of a message about a name that is not among `known`; "" if there are none."""
    found = difflib.get_close_matches(str(key), list(known), n=1, cutoff=0.0)
    return f"; the nearest is {found[0]}" if found else ""


def parse_json(line: str, where: str) -> Any:
    """The value that `line` holds in JSON; UserError where it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where}: not JSON ({error})") from None


def read_values(path: Path, **expected: Check) -> dict[str, Any]:
    """The named values of the JSON file `path`; UserError where one is missing or not what is expected."""
    value = read_json(path)
    found = value if isinstance(value, dict) else {}
    for key, check in expected.items():
        if not check.accepts(found.get(key)):
            raise UserError(f'{path}: "{key}": expected {check.expected}, not {found.get(key)!r}; make the file again')
    return {key: found.get(key) for key in expected}


def section(value: Any, where: str) -> Mapping[str, Any]:
    """`value`, which must be a mapping."""
    if not isinstance(value, Mapping):
        hint = IS_TEXT if value == "null" else ""
        raise UserError(f"{where}: expected a section of settings, not {value!r}{hint}")
    return value


@cache
def checks(cls: type) -> dict[str, Check]:
    """The check of each field of `cls` that declares one."""
    hints = get_type_hints(cls, include_extras=True)
    declared = ((key, one) for key, hint in hints.items() for one in getattr(hint, "__metadata__", ()))
    return {key: one for key, one in declared if isinstance(one, Check)}


def _unquoted(value: Any) -> Any:
    """What text, or each text of a list, would be without quotes: a number, true, false or null, where it is one."""
    if isinstance(value, list):
        return [_unquoted(one) for one in value]
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def checked(value: Any, check: Check, where: str) -> Any:
    """`value` in the form that `check` gives it; UserError where it does not accept it."""
    if not check.accepts(value):
        hint = ""
        if isinstance(value, str) and (number := re.fullmatch(r"([-+]?\d+)(\.\d*)?[eE]([-+]?)(\d+)", value)):
            whole, point, sign, exponent = number.groups()
            hint = f"; YAML reads {value} as text, write {whole}{point or '.0'}e{sign or '+'}{exponent}"
        elif isinstance(value, int) and abs(value) > LARGEST:
            hint = "; it has too many digits"
        elif isinstance(value, float) and value and not SMALLEST_SINGLE <= abs(value) <= LARGEST_SINGLE:
            hint = "; float32 holds numbers from 1.2e-38 to 3.4e+38"
        elif isinstance(value, int | float | date) and check.accepts(str(value)):
            hint = "; put it in quotes (in a file, not in --config)"
        elif check.accepts(_unquoted(value)):
            hint = IS_TEXT
        raise UserError(f"{where}: expected {check.expected}, not {value!r}{hint}")
    return check.form(value)


def build(cls: type[Kind], value: Any, where: str, others: Iterable[str] = ()) -> Kind:
    """A frozen `cls` from the mapping `value`: all keys known, all values checked, nothing missing.

    `others` are further known keys, which `cls` does not take.
    """
    known, others = checks(cls), list(others)  # type: ignore[arg-type]
    given = {}
    for key, one in section(value, where).items():
        if key in known:
            given[key] = checked(one, known[key], f"{where}.{key}")
        elif key not in others:
            raise unknown(key, [*known, *others], where)
    for one in fields(cls):  # type: ignore[arg-type]
        if one.name not in given and one.default is MISSING:
            raise UserError(f"{where}.{one.name} is missing; expected {known[one.name].expected}")
    return cls(**given)


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
    """As `build`, where the parts of `cls` are built from mappings, too; null leaves a part out."""
    parts = parts_of(cls)  # type: ignore[arg-type]
    whole = build(cls, value, where, others=parts)
    built = {
        name: build(kind, value[name], f"{where}.{name}")
        for name, kind in parts.items()
        if section(value, where).get(name) is not None
    }
    return replace(whole, **built)  # type: ignore[type-var]


class Section:
    """A section of settings, for frozen dataclasses: the workflow hands it to a step as one line of JSON."""

    @classmethod
    def from_json(cls, line: str) -> Self:
        """The section that `line` holds; a setting that is left out has its default. Raises UserError."""
        return build(cls, parse_json(line, "--settings"), "--settings")

    def to_json(self, *keys: str) -> str:
        """The settings named `keys`, all where none is named, as one line of JSON in a fixed order."""
        settings = asdict(self)  # type: ignore[call-overload]
        return json.dumps({key: settings[key] for key in keys or settings}, ensure_ascii=False)

    @classmethod
    def add_argument(cls, parser: argparse.ArgumentParser) -> None:
        """The option --settings, which gives `arguments.settings` as a `cls`."""
        keys = ", ".join(one.name for one in fields(cls))  # type: ignore[arg-type]
        needed = any(one.default is MISSING for one in fields(cls))  # type: ignore[arg-type]
        parser.add_argument(
            "--settings",
            type=cls.from_json,
            required=needed,
            default=None if needed else cls(),
            metavar="JSON",
            help=f"settings by name: {keys} (default: that of each setting)",
        )
