"""Strict YAML: what is refused, and that all else is read as Snakemake reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from nmt.settings.strict import parse
from nmt.system.errors import UserError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\n'a': 3", "f: a is set twice, in lines 1 and 3; remove one"),
        ("x: {a: 1, a: 1}", "f: a is set twice, in line 1; remove one"),
        (
            "variants:\n  A: {updates: 1}\nseed: 1\nvariants:\n  B: {updates: 1}",
            "variants is set twice, in lines 1 and 4",
        ),
        ("\na: 010", "f: line 2: YAML reads 010 as 8; write 8, or if it is text, put it in quotes"),
        ("a: 1:30", "f: line 1: YAML reads 1:30 as 90; write 90, or if it is text, put it in quotes"),
        ("a: 1:30.5", "YAML reads 1:30.5 as 90.5"),
        ("a: 0x1F", "YAML reads 0x1F as 31"),
        ("a: 1_000", "YAML reads 1_000 as 1000"),
        ("a: 1_000.5", "YAML reads 1_000.5 as 1000.5"),
        (
            "languages: {source: en, target: no}",
            "line 1: YAML reads no as false; write false, or if it is text, put it in",
        ),
        ("on: 1", "YAML reads on as true"),
        ("a: 2024-01-01", "f: line 1: YAML reads 2024-01-01 as a date; put it in quotes"),
        (f"a: 1{':00' * 3000}", "f: not YAML"),
    ],
)
def test_surprises_are_refused(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(text, "f")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "{a: 8, b: '010', c: 'no', d: true, e: 1.0e-6, f: .5, g: ~, h: , i: -3, j: n, k: 1.0e+3, l: .inf, m: +1}",
        "b: &b {x: 1}\na: &a {<<: *b, x: 2}\nc: {<<: *a, x: 3}",
        "{1: a, '1': b}",
        "a: |\n  010\n  no\n",
        "a: 1e-6",
    ],
)
def test_all_else_is_read_as_by_snakemake(text: str) -> None:
    assert parse(text, "f") == yaml.safe_load(text)


@pytest.mark.parametrize("file", sorted((ROOT / "config").rglob("*.yaml")), ids=str)
def test_shipped_experiments_have_no_surprises(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert parse(text, str(file)) == yaml.safe_load(text)
