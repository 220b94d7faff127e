"""What the package of the paper exports: settings, what they may name, and its tables and figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nmt import papers
from nmt.papers.bahdanau2015.paper import curves, phrase_based_options
from nmt.papers.bahdanau2015.settings import Figure2, Plain, Settings
from nmt.report.artefacts import collect
from nmt.settings.checks import build_parts
from nmt.system.errors import UserError
from tests.papers.experiment import VARIANTS, experiment

ROOT = Path(__file__).parents[3]
WHOLE = {
    "table1": {},
    "table2": {},
    "table3": {"models": ["fixed", "search"]},
    "figure1": {},
    "figure2": {},
    "figure3": {"model": "search"},
}


def paper(**settings: Any) -> dict[str, Any]:
    return {"paper": {"name": "bahdanau2015", **settings}}


def test_what_is_not_named_is_left_out() -> None:
    assert build_parts(Settings, {}, "here") == Settings()
    found = build_parts(Settings, {"table2": {}, "figure1": None, "figure2": {"leave_out": ["a"]}}, "here")
    assert found == Settings(table2=Plain(), figure2=Figure2(10, 0, ("a",), False))
    assert not found.printed


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"table4": {}}, "here: unknown setting table4; the nearest is table"),
        ({"table1": {"models": []}}, "here.table1: unknown setting models"),
        ({"table3": {}}, "here.table3.models is missing"),
        ({"table2": []}, "here.table2: expected a section of settings"),
        ({"printed": "yes"}, "here.printed: expected true or false"),
        ({"figure2": {"bin_width": 0}}, "here.figure2.bin_width: expected a whole number, 1 or more"),
    ],
)
def test_settings_are_strict(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message.replace(".", r"\.")):
        build_parts(Settings, settings, "here")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"table3": {"models": ["fixed", "other"]}}, "paper.table3.models: unknown variant other"),
        ({"table3": {"models": ["fixed", "short", "search"]}}, "paper.table3.models: expected two variants"),
        ({"figure2": {"leave_out": ["serach"]}}, "unknown variant serach; the nearest is search"),
        ({"figure2": {"leave_out": ["fixed", "short", "search"]}}, "paper.figure2.leave_out: no curve is left"),
        ({"figure3": {"model": "fixed"}}, "paper.figure3.model: fixed has no alignments"),
    ],
)
def test_tables_and_figures_name_variants_that_they_can_show(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message.replace(".", r"\.")):
        papers.settings(experiment(**paper(**settings)))


def test_table_3_has_no_column_twice() -> None:
    named = {"updates": 1, "label": "source"}
    with pytest.raises(UserError, match=r"variants\.fixed\.label: source is a column of table3\.csv; choose another"):
        papers.settings(experiment(**paper(**WHOLE), variants=VARIANTS | {"fixed": named}))
    papers.settings(experiment(**paper(**WHOLE), variants=VARIANTS | {"short": named}))  # which is not in the table


def test_the_curves_of_figure_2() -> None:
    def found(**settings: Any) -> list[str]:
        whole = experiment(phrase_based={}, **paper(figure2=settings))
        return curves(papers.settings(whole), whole)

    assert found() == ["fixed", "short", "search"]
    assert found(leave_out=["short"], phrase_based=True) == ["fixed", "search", "phrase-based"]


def test_table_1_says_how_the_phrase_based_system_was_made() -> None:
    assert phrase_based_options(experiment()) == []
    assert phrase_based_options(experiment(phrase_based={"system": None})) == []
    *options, settings = phrase_based_options(experiment(phrase_based={"pairs": 7, "monolingual": ["m"]}))
    assert options == ["--phrase-based", "Phrase-based (Thot)", "--settings"]
    assert json.loads(settings) == {"pairs": 7, "order": 5, "monolingual": ["m"]}


def test_the_whole_paper_in_the_pages_order() -> None:
    whole = experiment(**paper(**WHOLE))
    own = papers.artefacts(whole)
    assert [one.name for one in own] == [
        *("table1", "table2", "table3", "significance"),
        *("figure1", "figure2", "figure3"),
    ]
    assert [one.title for one in own if one.category == "Tables"] == [
        *("Table 1: BLEU", "Table 2: training", "Table 3: long sentences", "Significance")
    ]
    assert not any(one.printed for one in own)
    for one in collect(whole, own).values():
        assert (ROOT / one.caption).is_file()


def test_a_part_of_the_paper() -> None:
    some = experiment(**paper(table1={}, figure3=None), variants={"search": {"updates": 1}})
    assert [one.name for one in papers.artefacts(some)] == ["table1"]
    assert papers.artefacts(experiment()) == []


def test_the_papers_numbers_stand_beside_ours_only_where_the_experiment_says_so() -> None:
    whole = experiment(**paper(printed=True, **WHOLE))
    found = collect(whole, papers.artefacts(whole))
    beside = {name: one.printed for name, one in found.items() if one.printed}
    assert set(beside) == {"table1", "table2", "selection"}
    for paths in beside.values():
        assert all((ROOT / path).is_file() for path in paths)
