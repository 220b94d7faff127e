"""What the package of the paper exports: its settings, what they may name, and the tables that follow from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nmt import papers
from nmt.papers.choi2017.paper import language_pair, timed
from nmt.papers.choi2017.settings import Figure4, Plain, Settings, Table2
from nmt.report.artefacts import collect
from nmt.settings.checks import build_parts
from nmt.system.errors import UserError
from tests.papers.experiment import experiment

ROOT = Path(__file__).parents[3]
VARIANTS = {
    name: {"updates": 1, "unit": "lstm", "attention": attention}
    for name, attention in (
        *(("Fixed", "fixed"), ("AttY", "additive"), ("AttY2D", "fine_grained")),
        *(("CAttY", "additive"), ("CAttY2D", "fine_grained")),
    )
}
PAIRS = [["AttY2D", "AttY"], ["CAttY2D", "CAttY"]]
FIGURES: dict[str, Any] = {
    "figure2": {"models": ["AttY", "AttY2D"]},
    "figure3": {"model": "AttY2D"},
    "figure4": {"model": "AttY2D", "aligner": "AttY", "words": "generated"},
}


def paper(**settings: Any) -> dict[str, Any]:
    return {"variants": VARIANTS, "paper": {"name": "choi2017", **settings}}


def test_what_is_not_named_is_left_out() -> None:
    assert build_parts(Settings, {}, "here") == Settings()
    found = build_parts(Settings, {"table1": None, "table2": {}, "parameters": {}}, "here")
    assert found == Settings(table2=Table2(sentences=0), parameters=Plain())
    assert not found.printed


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"table3": {}}, "here: unknown setting table3; the nearest is table"),
        ({"sentence": 0}, "here.sentence: expected a whole number, 1 or more"),
        ({"figure2": {"models": []}}, "here.figure2.models: expected a list of different names, 1 or more"),
        ({"figure4": {"model": "AttY2D", "aligner": "AttY"}}, "here.figure4.words is missing"),
        ({"figure4": FIGURES["figure4"] | {"permutations": 10**6}}, "permutations: expected a whole number, from 1 to"),
        ({"table2": {"sentences": -1}}, "here.table2.sentences: expected a whole number, 0 or more"),
        ({"pairs": ["AttY2D", "AttY"]}, "here.pairs: expected a list of pairs of different names"),
        ({"pairs": [["AttY", "AttY"]]}, "here.pairs: expected a list of pairs of different names"),
    ],
)
def test_settings_are_strict(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message.replace(".", r"\.")):
        build_parts(Settings, settings, "here")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pairs": [["AttY2D", "Atty"]]}, "paper.pairs: unknown variant Atty; the nearest is AttY"),
        ({"pairs": [*PAIRS, ["AttY2D", "CAttY"]]}, "paper.pairs: AttY2D is compared twice; name one pair for it"),
        ({"table2": {}}, "paper.pairs is empty; name the models of Table 2"),
    ],
)
def test_pairs_are_of_variants_that_are_there(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message.replace(".", r"\.")):
        papers.settings(experiment(**paper(**settings)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"figure2": {"models": ["Fixed"]}}, "paper.figure2.models: Fixed has no alignments"),
        ({"figure2": {"models": ["Atty"]}}, "paper.figure2.models: unknown variant Atty; the nearest is AttY"),
        ({"figure3": {"model": "AttY"}}, "paper.figure3.model: the attention of AttY is not fine_grained"),
        ({"figure4": FIGURES["figure4"] | {"model": "CAttY"}}, "paper.figure4.model: the attention of CAttY is not"),
        ({"figure4": FIGURES["figure4"] | {"aligner": "Fixed"}}, "paper.figure4.aligner: Fixed has no alignments"),
    ],
)
def test_figures_are_of_variants_that_have_such_weights(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message.replace(".", r"\.")):
        papers.settings(experiment(**paper(**settings)))


def test_what_the_rules_ask() -> None:
    chosen = build_parts(Settings, {"pairs": [*PAIRS, ["AttY", "CAttY"]]}, "here")
    assert timed(chosen) == ["AttY", "AttY2D", "CAttY", "CAttY2D"]
    assert timed(Settings()) == []
    assert papers.beams(experiment(**paper(table1={}))) == {1: ".beam1", 12: ""}
    assert papers.beams(experiment(**paper(table1={}), translate={"beam": 1})) == {1: ""}
    assert papers.beams(experiment(**paper())) == {12: ""}
    assert language_pair(experiment(languages={"source": "en", "target": "de"})) == "En-De"


def test_the_whole_paper_in_the_pages_order() -> None:
    whole = experiment(
        **paper(pairs=PAIRS, table1={}, table2={}, parameters={}, **FIGURES, printed=True), evaluate={"compare": PAIRS}
    )
    assert papers.settings(whole).figure4 == Figure4("AttY2D", "AttY", "generated", permutations=200)
    own = papers.artefacts(whole)
    figures = ["figure2", "figure3", "figure4"]
    assert [one.name for one in own if one.is_figure] == figures
    names = ["table1", "table2", "significance", "parameters", "specialized_dimensions", *figures]
    assert [one.name for one in own] == names
    assert [one.name for one in own if one.each_set] == ["table1", "significance"]
    for one in collect(whole, own).values():
        assert (ROOT / one.caption).is_file()
        assert all((ROOT / path).is_file() for path in one.printed)
    assert {one.name for one in own if one.printed} == {"table1", "table2", "parameters"}


def test_a_part_of_the_paper() -> None:
    some = experiment(**paper(table1={}, parameters=None) | {"variants": {"AttY": VARIANTS["AttY"]}})
    assert [one.name for one in papers.artefacts(some)] == ["table1"]
    assert not any(one.printed for one in papers.artefacts(some))
