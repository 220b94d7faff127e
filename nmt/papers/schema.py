"""Write the JSON Schema of experiment files, made from the checks of the settings.

An editor that knows it completes the settings of a file and marks what is mistaken. A file of config/ names it in its
first line, `# yaml-language-server: $schema=schema.json`, relative to the file.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from nmt import papers
from nmt.settings.checks import checks, identifier, parts_of
from nmt.settings.experiment import OF_A_VARIANT, OPTIONAL, SECTIONS, Experiment
from nmt.settings.variant import KINDS
from nmt.system.options import Output
from nmt.system.text import write_lines

Schema = dict[str, Any]
ID = "https://json-schema.org/draft/2020-12/schema"
NULL: Schema = {"type": "null"}
WORD: Schema = {"type": "string", "minLength": 1}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Output, metavar="JSON", help="the schema (default: standard output)")


def run(arguments: argparse.Namespace) -> None:
    text = json.dumps(schema(), indent=1, ensure_ascii=False)
    if arguments.output is None:
        sys.stdout.write(f"{text}\n")
    else:
        write_lines(arguments.output, [text])


def schema() -> Schema:
    """The schema of one file; it may leave out whatever it inherits, so that only its own name is required."""
    scalars = _settings(Experiment)
    scalars["experiment"] = scalars.pop("name")
    sections = {key: _section(_settings(kind)) for key, kind in SECTIONS.items()}
    of_a_variant = {key: one for kind in KINDS for key, one in _settings(kind).items() if key in OF_A_VARIANT}
    shared = {key: {"$ref": f"#/$defs/{key}"} for key in of_a_variant}
    whole = _section(
        {
            "extends": {**WORD, "description": "the file whose settings are taken over"},
            **scalars,
            **{key: {"anyOf": [NULL, one]} if key in OPTIONAL else one for key, one in sections.items()},
            "paper": {"anyOf": [NULL, *map(_paper, papers.names())]},
            "defaults": _section(shared),
            "prototypes": {"type": "object", "additionalProperties": _section(shared)},
            "variants": {
                "type": "object",
                "propertyNames": dict(identifier().schema),
                "additionalProperties": {"anyOf": [NULL, _section({**shared, "prototype": {"anyOf": [NULL, WORD]}})]},
            },
        }
    )
    return {"$schema": ID, "title": "An experiment of nmt", **whole, "required": ["experiment"], "$defs": of_a_variant}


def _section(properties: Mapping[str, Schema]) -> Schema:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}


def _settings(kind: type) -> dict[str, Schema]:
    """The schema of each checked field of a dataclass, with what is expected and the default."""
    defaults = {one.name: one.default for one in fields(kind) if one.default is not MISSING}
    return {
        key: {**check.schema, "description": check.expected} | ({"default": defaults[key]} if key in defaults else {})
        for key, check in checks(kind).items()
    }


def _paper(name: str) -> Schema:
    """The settings of a paper; null leaves out one of its tables and figures."""
    module = importlib.import_module(f"{papers.__name__}.{name}.settings")
    parts = {key: {"anyOf": [NULL, _section(_settings(kind))]} for key, kind in parts_of(module.Settings).items()}
    return _section({"name": {"const": name}, **_settings(module.Settings), **parts})
