"""The JSON Schema of experiment files: it is that of the checks, and refuses what they refuse."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from nmt import papers
from nmt.__main__ import main
from nmt.papers.schema import schema
from nmt.settings.experiment import load
from nmt.settings.extends import merge, read_experiment, resolve
from nmt.system.errors import UserError

ROOT = Path(__file__).parents[2]
SHIPPED = sorted({*(ROOT / "config").rglob("*.yaml")} - {ROOT / "config/moses.yaml"})  # which is no experiment
VALIDATOR = jsonschema.Draft202012Validator(schema())


@pytest.fixture(autouse=True)
def _root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_the_file_is_what_the_command_writes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["schema"]) == 0
    assert main(["schema", "--output", str(tmp_path / "schema.json")]) == 0
    assert capsys.readouterr().out == (tmp_path / "schema.json").read_text()
    assert (tmp_path / "schema.json").read_text() == (ROOT / "config/schema.json").read_text(), (
        "make it again: nmt schema --output config/schema.json"
    )
    VALIDATOR.check_schema(json.loads((ROOT / "config/schema.json").read_text()))


@pytest.mark.parametrize("file", SHIPPED, ids=str)
def test_shipped_experiments_name_the_schema_and_follow_it(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    first = text.split("\n")[0]
    assert first.startswith("# yaml-language-server: $schema=")
    assert (file.parent / first.partition("=")[2]).resolve() == ROOT / "config/schema.json"
    VALIDATOR.validate(yaml.safe_load(text))


def places(value: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The path of every setting and section."""
    found = [path] if path else []
    for key, one in value.items() if isinstance(value, dict) else ():
        found += places(one, (*path, key))
    return found


def changed(value: dict[str, Any], path: tuple[str, ...], new: Any) -> dict[str, Any]:
    """`value` with `new` at `path`."""
    key, *rest = path
    return {**value, key: changed(value[key], tuple(rest), new) if rest else new}


def refusal(mapping: dict[str, Any]) -> str:
    """What is wrong with an experiment; nothing where it is accepted."""
    try:
        papers.settings(load(resolve(mapping)))
    except UserError as error:
        return str(error)
    return ""


ODD = [None, True, -1, 0, 0.5, 10**30, 1e300, 1e-46, "", "x", "a<b", [], ["x", "x"], [["x"]], {}, {"unknown": 1}]


@pytest.mark.parametrize("name", ["manual", "choi2017/wmt15-ende"])
def test_the_schema_refuses_a_value_where_the_checks_do(name: str) -> None:
    """Of another type or out of range. What depends on other settings is in the checks alone."""
    mapping = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())
    mapping.pop("files", None)  # which would hide `registry`, `corpora` and `mirror`
    assert not refusal(mapping)
    draw = random.Random(1)
    mutants = [(path, odd) for path in places(mapping) for odd in ODD]
    for path, odd in draw.sample(mutants, 300):
        mutant = changed(mapping, path, odd)
        by_checks, by_schema = refusal(mutant), not VALIDATOR.is_valid(mutant)
        if path[0] not in ("defaults", "prototypes"):  # which are checked only where a variant uses them
            assert by_checks or not by_schema, (path, odd)
        assert by_schema or ": expected " not in by_checks or "is missing" in by_checks, (path, odd, by_checks)


@pytest.mark.parametrize(
    "overlay",
    [
        "{experimnt: a}",
        "{translate: {beem: 3}}",
        "{translate: {beam: 10000}}",
        "{variants: {a/b: {updates: 3}}}",
        "{variants: {a: {update: 3}}}",
        "{prototypes: {RNNsearch: {attenton: fixed}}}",
        "{paper: {name: bahdanau}}",
        "{paper: {table4: {}}}",
        "{paper: {table3: {sentence: 4}}}",
        "{defaults: {epsilon: '1e-6'}}",
        "{defaults: {rho: 1}}",
        "{evaluate: {compare: [[a, a]]}}",
        "{files: {train: [a]}}",
    ],
)
def test_mistakes_are_refused_by_both(overlay: str) -> None:
    mapping = {"extends": "config/demo.yaml", "experiment": "x", **yaml.safe_load(overlay)}
    assert refusal(mapping)
    assert not VALIDATOR.is_valid(mapping)


def test_a_file_that_leaves_things_out_is_valid() -> None:
    overlay = "{variants: {RNNencdec-30: null}, phrase_based: null, paper: {table3: null}}"
    mapping = {"extends": "config/demo.yaml", "experiment": "x", **yaml.safe_load(overlay)}
    VALIDATOR.validate(mapping)
    assert load(resolve(mapping)).phrase_based is None
    assert read_experiment(["demo"]) == load(resolve(merge({}, yaml.safe_load(Path("config/demo.yaml").read_text()))))
