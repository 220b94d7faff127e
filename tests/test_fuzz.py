"""Seeded mutations of settings, tables and names: each is accepted, or is one line that says what is wrong."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from nmt import papers
from nmt.corpora.new_text import flow
from nmt.evaluation.scores import read_score
from nmt.monitor.gather_metrics import COLUMNS as CURVES
from nmt.papers.bahdanau2015 import figure2, table1
from nmt.papers.choi2017 import figure3
from nmt.papers.choi2017.mean_weights import COLUMNS as WEIGHTS
from nmt.report import learning_curves, panels, ratings
from nmt.report.page import show_table
from nmt.settings.experiment import load
from nmt.settings.extends import read, resolve
from nmt.settings.strict import parse
from nmt.system.errors import UserError

ROOT = Path(__file__).parents[1]
# As they are written in a file.
ODD = [
    *("", "~", "true", "no", "0", "-1", "010", "1:30", "0x10", "1_000", "2024-01-01", "1e3", "1.0e+39", "1.0e-46"),
    *(".inf", "-.inf", ".nan", "9" * 20, "9" * 5000, "1e999", "''", "x", "'no'", "'{x}'", "'<data>'", "'a\\b'"),
    *(
        "'../x'",
        "'-x'",
        "'a\tb'",
        '"\\0"',
        '"\\ud800"',
        "'é'",
        "[]",
        "[[]]",
        "[a, a]",
        "[1]",
        "{}",
        "{a: 1}",
        "{a: {}}",
    ),
    *("&x [*x]", "&x {a: *x}", "!!float abc", "!!binary x", "[" * 300, "{a: 1, a: 2}", "? [a]", "- a", "a: b: c", "%"),
]
CELLS = ["", "x", "-1", "1.5", "inf", "-inf", "nan", "1e999", "9" * 20, "9" * 5000, "٣", '"', "\0", "null", "1_0", " 1"]


@pytest.fixture(autouse=True)
def _root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def outcome(work: Callable[[], object]) -> str:
    """What is wrong, in one line; nothing where it works. Any other error fails the test."""
    try:
        work()
    except UserError as error:
        said = str(error)
        assert said
        assert "\n" not in said
        return said
    return ""


def mutated(text: str, draw: random.Random) -> str:
    """`text` of YAML with one or two words replaced, lines removed, doubled or moved, or characters changed."""
    lines = text.split("\n")
    for _ in range(draw.randint(1, 2)):
        at = draw.randrange(len(lines))
        line = lines[at]
        match draw.randrange(6):
            case 0 | 1 if ": " in line:
                lines[at] = f"{line.split(': ')[0]}: {draw.choice(ODD)}"
            case 2:
                lines.insert(at, line)
            case 3:
                lines.pop(at)
                lines = lines or [""]
            case 4:
                lines[at] = draw.choice(["", " ", "  ", "\t", "- "]) + line.lstrip()
            case _:
                place = draw.randrange(len(line) + 1)
                lines[at] = (
                    line[:place] + draw.choice(":,{}[]&*!|>'\"%@`#?-\t0aé\0") + line[place + draw.randint(0, 1) :]
                )
    return "\n".join(lines)


@pytest.mark.parametrize("name", ["demo", "choi2017/wmt15-ende", "choi2017/open-en-fi", "manual"])
def test_settings(name: str) -> None:
    draw = random.Random(name)
    text = "\n".join(line for line in (ROOT / f"config/{name}.yaml").read_text().split("\n") if line[:1] != "#")

    def check(mutant: str) -> None:
        mapping = parse(mutant, "f")
        if isinstance(mapping, dict):
            papers.artefacts(load(resolve(mapping)))

    said = [outcome(lambda: check(mutated(text, draw))) for _ in range(25)]
    assert any(said)  # some are refused
    assert not all(said)  # and some accepted


def test_settings_in_a_file_as_snakemake_reads_them(tmp_path: Path) -> None:
    """What is accepted is what YAML gives by itself."""
    draw = random.Random(1)
    file = tmp_path / "x.yaml"
    for odd in ODD:
        key = draw.choice(["seed", "results", "mirror", "tokenized", "registry", "translate", "variants", "extends"])
        try:
            file.write_text(f"extends: config/demo.yaml\nexperiment: x\n{key}: {odd}\n")
        except UnicodeEncodeError:
            continue
        if not outcome(lambda: read(str(file))):
            assert parse(file.read_text(), "f") == yaml.safe_load(file.read_text())


def table(columns: tuple[str, ...], *rows: str) -> list[list[str]]:
    return [list(columns), *(row.split(",") for row in rows)]


TABLES = {
    "figure2": (
        table(figure2.COLUMNS, "a,0,10,30,20.5,9,30.5", "a,10,,2,10.5,1,20", "b,0,10,30,1.5,0,2", "b,10,,2,,,"),
        lambda path: figure2.draw(figure2.read_points(path)),
    ),
    "learning_curves": (
        table(CURVES, "a,train_nll,50,0.1,9,1,0", "a,development_nll,50,0.1,8,1,0", "b,train_nll,50,0.1,9,1,0"),
        lambda path: learning_curves.draw(learning_curves.read_curves(path)),
    ),
    "ratings": (
        table(ratings.DISTRIBUTION, "a,,0,3,1,0.5", "a,0,1,3,1,0.5", "a,1,,3,1,0.5"),
        lambda path: ratings.draw(ratings.read_bins(path)),
    ),
    "panels": (table(panels.COLUMNS, "a,0,0,x,y,0.5", "a,0,1,x,z,0.5"), panels.read_panels),
    "figure3": (
        table(WEIGHTS, "0,x,1,0.5", "0,x,2,0.5", "1,y,1,0.5", "1,y,2,0.5"),
        lambda path: figure3.draw(*figure3.read_points(path)),
    ),
    "sheet": (table(("a", "b"), "1,2", "x,3"), show_table),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables(name: str, tmp_path: Path) -> None:
    whole, show = TABLES[name]
    draw, said = random.Random(name), []
    for _ in range(20):
        rows = [list(row) for row in whole]
        row = draw.randrange(len(rows))
        match draw.randrange(5):
            case 0:
                rows.pop(row)
            case 1:
                rows.insert(row, list(rows[row]))
            case 2:
                rows[row] = rows[row][:-1]
            case _:
                rows[row][draw.randrange(len(rows[row]))] = draw.choice(CELLS)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        file = tmp_path / "table.csv"
        file.write_text(text.getvalue())
        said.append(outcome(lambda path=str(file): show(path)))
    assert any(said)


def test_scores(tmp_path: Path) -> None:
    part = {"bleu": 1.5, "sentences": 3, "signature": "s", "detokenized_bleu": 1.5, "detokenized_signature": "d"}
    odd: list[Any] = [None, True, -1, 10**400, float("inf"), float("nan"), "", "x", [], {}]
    file = tmp_path / "score.json"
    said = {}
    for key in part:
        for value in odd:
            file.write_text(json.dumps({"all": {**part, key: value}}))

            def show() -> None:
                score = read_score(str(file))
                table1.markdown([("a", score)], None)
                table1.csv_table([("a", score)], None)

            said[key, repr(value)] = outcome(show)
    assert said["bleu", "inf"].endswith("make it again with the step evaluate")
    assert "signature of all is null" in said["signature", "None"]


NAMES = [
    "a\nb",
    "a\tb",
    "{x}",
    "<x>",
    "-x",
    "..",
    "a/b",
    "",
    " ",
    "é",
    "\ud800",
    "no",
    "010",
    "1e3",
    "x" * 2000,
    "a'b",
    'a"b',
]


@pytest.mark.parametrize("key", ["experiment", "results", "registry", "mirror", "files", "label", "variant"])
def test_names(key: str) -> None:
    """Written by `nmt new` and read again, a name is what it was; an experiment takes or refuses it."""
    for name in NAMES:
        base: dict[str, Any] = {"extends": "config/demo.yaml", "experiment": "x", "variants": {"a": {"updates": 1}}}
        changes = {
            "label": {"variants": {"a": {"updates": 1, "label": name}}},
            "variant": {"variants": {name: {"updates": 1}}},
            "files": {"files": {"train": ["a", name], "development": ["c", "d"], "test": ["e", "f"]}},
        }
        mapping = base | changes.get(key, {key: name})
        if name.isprintable():
            assert parse(flow(mapping), "f") == mapping
        outcome(lambda mapping=mapping: load(resolve(mapping)))
