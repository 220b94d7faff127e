"""YAML without its surprises: a key that is there twice, and a word that is read as something else, are errors.

YAML 1.1 takes the last of two equal keys, and reads 010 as 8, 1:30 as 90 and no as false. So does Snakemake, which
reads an experiment's file by itself: therefore nothing is read differently here, only refused.
"""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from nmt.system.errors import UserError

TAG = "tag:yaml.org,2002:"
# What a word without quotes may look like, by its type.
AS_WRITTEN = {
    f"{TAG}bool": r"true|True|TRUE|false|False|FALSE",
    f"{TAG}int": r"[-+]?(0|[1-9][0-9]*)",
    f"{TAG}float": r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
    f"{TAG}timestamp": r"(?!)",
}


def parse(text: str, name: str) -> Any:
    """The value of `text`, the content of the file `name`. Raises UserError where it is not YAML or surprises."""
    try:
        value = yaml.load(text, _Loader)
        json.dumps(value, skipkeys=True, default=str)  # fails for a value that contains itself
        return value
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
    # PyYAML raises errors of many kinds where a value is not what its tag says, such as a 13th month.
    except (yaml.YAMLError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise UserError(f"{name}: not YAML ({' '.join(str(error).split())})") from None


class _Loader(yaml.SafeLoader):
    """Refuses while it reads, before keys that are merged by `<<` are joined with a mapping's own."""

    def compose_mapping_node(self, anchor: Any) -> Any:
        node = super().compose_mapping_node(anchor)
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                line = key.start_mark.line + 1
                if (key.tag, key.value) in lines:
                    first = lines[key.tag, key.value]
                    where = f"lines {first} and {line}" if first != line else f"line {line}"
                    raise UserError(f"{key.value} is set twice, in {where}; remove one")
                lines[key.tag, key.value] = line
        return node

    def compose_scalar_node(self, anchor: Any) -> Any:
        plain = self.peek_event().implicit[0]
        node = super().compose_scalar_node(anchor)
        if plain and not re.fullmatch(AS_WRITTEN.get(node.tag, ".*"), node.value, re.DOTALL):
            if node.tag == f"{TAG}timestamp":
                reading, remedy = "a date", ""
            else:
                reading = json.dumps(self.yaml_constructors[node.tag](self, node))
                remedy = f"write {reading}, or if it is text, "
            line = node.start_mark.line + 1
            raise UserError(f"line {line}: YAML reads {node.value} as {reading}; {remedy}put it in quotes")
        return node
