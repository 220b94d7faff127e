"""A paper is a folder: its name and its artefacts are found without an edit elsewhere."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nmt import papers
from nmt.papers.bahdanau2015.printed import PRINTED
from nmt.report.artefacts import collect
from nmt.settings.experiment import load
from nmt.settings.extends import read_experiment, resolve
from nmt.system.errors import UserError
from tests.papers.experiment import experiment

ROOT = Path(__file__).parents[2]
NONE = ("manual.yaml", "moses.yaml")  # the manual, and a file that changes other experiments
EXPERIMENTS = [path for path in sorted((ROOT / "config").rglob("*.yaml")) if path.name not in NONE]
PAPER = '''\
"""A paper of one table."""

from nmt.papers.second2020.settings import Settings
from nmt.report.artefacts import Artefact

TITLE, REFERENCE, CLAIM = "Second", "Somebody (2020)", "It is long."
STEPS = {"longest": "the longest translation"}


def without(settings, left_out):
    """Nothing names a variant."""
    return settings


def check(settings, experiment):
    """Nothing can be wrong."""


def artefacts(settings, experiment):
    """The table."""
    return [Artefact("longest", "Longest", "Tables", "nmt/papers/second2020/longest.rst", ("csv",), "csv", True)]
'''
SETTINGS = '''\
"""The settings of the second paper."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """It has none."""
'''
ASK = """\
import json
from nmt import papers
from nmt.report.artefacts import collect, sheets, targets
from tests.papers.experiment import experiment

second = experiment(paper={"name": "second2020"}, select={"rule": "all"})
found, places = collect(second, papers.artefacts(second)).values(), {"": "d", "e/": "e"}
print(json.dumps([papers.names(), papers.page_head(second), targets(found, places) + sheets(found, places)]))
"""


def test_the_papers() -> None:
    assert "bahdanau2015" in papers.names()
    assert papers.paper("bahdanau2015").STEPS["table1"]
    assert papers.page_head(experiment()) == []
    files = {use: [f"{use}.de", f"{use}.fi"] for use in ("train", "development", "test")}
    own = experiment(paper={"name": "bahdanau2015", "table1": {}}, files=files, select={"rule": "all"})
    assert papers.page_head(own) == ["--title", "Translation from en to fr"]
    assert [one.title for one in papers.artefacts(own) if one.name != "significance"] == ["BLEU"]
    assert papers.settings(experiment()) is None


@pytest.mark.parametrize("chosen", [{}, {"paper": {"name": "bahdanau2015"}}])
def test_scores_are_at_the_beam_of_the_experiment_unless_the_paper_has_others(chosen: dict[str, Any]) -> None:
    assert papers.beams(experiment(translate={"beam": 7}, **chosen)) == {7: ""}


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_captions_speak_of_what_the_experiment_has(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other set, no table or figure that is left out, and the paper's sentences only where they are shown."""
    monkeypatch.chdir(ROOT)
    one = read_experiment([str(path)])
    whole = collect(one, papers.artefacts(one))
    titles = {artefact.title.partition(":")[0] for artefact in whole.values()}
    sets = {*one.corpora.train, *one.corpora.development, *one.corpora.test}
    for artefact in whole.values():
        text = (ROOT / artefact.caption).read_text()
        assert set(re.findall(r"(?:Table|Figure) \d", text)) <= titles
        assert set(re.findall(r"\w+test\d+|toy-[a-z]+|heldout-\S+", text)) <= sets
        assert "open corpora" not in text
        assert ("the paper prints" in text) <= (not PRINTED.keys().isdisjoint(one.corpora.test))


@pytest.mark.parametrize("name", ["config/demo.yaml", "config/open.yaml"])
def test_figure_3_names_the_papers_sentences_where_it_shows_them(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    one = read_experiment([name])
    [figure3] = [artefact for artefact in papers.artefacts(one) if artefact.name == "figure3"]
    assert ("the paper prints" in (ROOT / figure3.caption).read_text()) == ("newstest2014" in one.corpora.test)


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_a_variant_that_is_null_takes_with_it_what_names_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever it is, and also with those that continue it: no table or figure asks for it, and nothing is refused."""
    monkeypatch.chdir(ROOT)
    whole = read_experiment([str(path)])
    for name in whole.models if len(whole.models) > 1 else ():
        overlay = {"extends": str(path), "experiment": "less", "variants": {name: None}}
        less = load(resolve(overlay))
        gone = whole.models.keys() - less.models.keys()
        assert gone == {name, *(one.name for one in whole.models.values() if one.continues == name)}
        assert not gone & set(less.replicas.values())
        assert less.left_out == gone | whole.left_out
        assert all(gone.isdisjoint(pair) for pair in less.evaluate.compare or ())
        left = papers.artefacts(less)
        assert {one.name for one in left} <= {one.name for one in papers.artefacts(whole)}
        assert not gone & set(re.findall(r"[\w-]+", str(papers.settings(less))))


def test_what_names_a_variant_that_is_null_is_left_out() -> None:
    second = load(
        resolve({"extends": "config/choi2017/demo-choi.yaml", "experiment": "less", "variants": {"AttY2D": None}})
    )
    compare = [["AttY", "Baseline"], ["C", "Baseline"], ["CAttY", "C"], ["CAttY2D", "CAttY"]]
    assert [*(second.evaluate.compare or ())] == compare
    settings = papers.settings(second)
    assert ([*settings.pairs], settings.figure2.models) == (compare[-1:], ("Baseline", "AttY"))
    assert (settings.figure3, settings.figure4) == (None, None)
    assert settings.table2 is not None


def test_a_paper_that_is_not_there_is_one_line() -> None:
    with pytest.raises(
        UserError, match=r"config: paper\.name: unknown paper bahdanau2016; the nearest is bahdanau2015"
    ):
        papers.settings(experiment(paper={"name": "bahdanau2016"}))


def test_a_second_paper_needs_no_edit_outside_its_folder(tmp_path: Path) -> None:
    for folder in ("nmt", "tests/papers"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "tests/__init__.py").touch()
    second = tmp_path / "nmt/papers/second2020"
    second.mkdir()
    for name, text in {"__init__": '"""Somebody (2020)."""\n', "paper": PAPER, "settings": SETTINGS}.items():
        (second / f"{name}.py").write_text(text)
    said = subprocess.run([sys.executable, "-c", ASK], cwd=tmp_path, capture_output=True, text=True, check=True)
    names, head, targets = json.loads(said.stdout)
    assert names == sorted([*papers.names(), "second2020"])
    assert head == ["--title", "Second", "--reference", "Somebody (2020)", "--claim", "It is long."]
    assert {target for target in targets if "longest" in target} == {
        *("<results>/longest.csv", "<results>/e/longest.csv"),
        *("<data>/sheets/longest.html", "<data>/sheets/e/longest.html"),
    }
    assert "<results>/coverage.csv" in targets
    assert not [target for target in targets if "table1" in target or "ratings" in target]


@pytest.mark.parametrize("name", papers.names())
def test_every_step_is_a_module(name: str) -> None:
    for step in papers.paper(name).STEPS:
        module = importlib.import_module(f"nmt.papers.{name}.{step}")
        assert module.__doc__
        assert callable(module.run)
        assert callable(module.add_arguments)


@pytest.mark.parametrize("name", papers.names())
def test_the_workflow_imports_a_paper_quickly(name: str) -> None:
    """Neither the module nor its artefacts load a library, which every start of Snakemake would wait for."""
    code = f"import sys; from nmt import papers; papers.paper('{name}'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not {"matplotlib", "numpy", "pandas", "sacrebleu", "torch"} & set(loaded.split())
