"""Targets, report and page follow from the artefacts of an experiment."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from nmt.report.artefacts import FIGURE, Artefact, collect, compared, front, on_page, selection, sheets, targets
from tests.papers.experiment import experiment

TABLE = Artefact("scores", "Scores", "Tables", "a/scores.rst", ("csv", "md"), "md", each_set=True)
DRAWING = Artefact("drawing", "Drawing", "Figures", "a/drawing.rst", FIGURE, "svg")
PLACES = {"": "first", "second/": "second"}


def names(**settings: Any) -> list[str]:
    return list(collect(experiment(**settings), []))


def test_an_experiment_without_a_paper() -> None:
    assert names() == ["significance", "learning_curves", "selection", "ratings", "coverage"]


def test_what_an_experiment_does_not_have_is_left_out() -> None:
    assert names(variants={"one": {"updates": 1}}, select={"rule": "all"}) == [
        "learning_curves",
        "selection",
        "coverage",
    ]
    assert "significance" in names(variants={"one": {"updates": 1}}, phrase_based={})


def test_what_is_compared() -> None:
    assert compared(experiment()) == ([("search", "fixed")], [])  # `short` is trained on shorter sentences
    in_sight, folded = compared(experiment(phrase_based={}))
    assert in_sight == [("search", "fixed"), ("short", "phrase-based"), ("search", "phrase-based")]
    assert folded == [("fixed", "phrase-based")]
    assert compared(experiment(phrase_based={"system": None})) == ([("search", "fixed")], [])
    alone = experiment(phrase_based={}, variants={"fixed": {"attention": "fixed", "updates": 1}})
    assert compared(alone) == ([("fixed", "phrase-based")], [])


def test_an_experiment_may_name_what_is_compared() -> None:
    named = experiment(phrase_based={}, evaluate={"compare": [["short", "search"], ["search", "phrase-based"]]})
    assert compared(named) == ([("short", "search"), ("search", "phrase-based")], [])


def test_nothing_is_compared_where_the_list_is_empty_or_all_of_it_is_left_out() -> None:
    pairs = [["short", "search"]]
    left_out = {name: {"updates": 1} for name in ("search", "fixed")} | {"short": None}
    for settings in ({"evaluate": {"compare": []}}, {"evaluate": {"compare": pairs}, "variants": left_out}):
        assert compared(experiment(phrase_based={}, **settings)) == ([], [])
        assert "significance" not in names(phrase_based={}, **settings)
    assert any(compared(experiment(evaluate={"compare": None})))


def test_a_papers_own_artefact_replaces_the_general_one() -> None:
    own = Artefact("selection", "Selection", "Corpora", "a/selection.rst", ("csv",), "csv", printed=("words.tsv",))
    found = collect(experiment(), [TABLE, own])
    assert list(found) == ["scores", "selection", "significance", "learning_curves", "ratings", "coverage"]
    assert found["selection"] == own
    assert collect(experiment(), [])["selection"] == selection()


def test_targets_are_files_of_all_sets_and_a_sheet_for_each_table() -> None:
    assert targets([TABLE, DRAWING], PLACES) == [
        *("<results>/index.html", "<results>/index/first.js", "<results>/index/second.js"),
        *("<results>/scores.csv", "<results>/scores.md", "<results>/second/scores.csv", "<results>/second/scores.md"),
        *("<results>/drawing.pdf", "<results>/drawing.svg", "<results>/drawing.png"),
    ]
    assert sheets([TABLE, DRAWING], PLACES) == ["<data>/sheets/scores.html", "<data>/sheets/second/scores.html"]


def test_the_page_shows_all_of_the_first_set_in_order_then_the_other_sets() -> None:
    assert on_page([DRAWING, TABLE], PLACES) == [
        (DRAWING, "drawing.svg"),
        (TABLE, "scores.md"),
        (TABLE, "second/scores.md"),
    ]


def test_the_summary_shows_the_first_figure_of_a_set() -> None:
    of_set = replace(DRAWING, name="curves", each_set=True)
    assert front(on_page([TABLE, DRAWING, of_set], PLACES)) == "curves.svg"
    assert front(on_page([TABLE, DRAWING], PLACES)) == "drawing.svg"


def test_paths_for_rules() -> None:
    assert (TABLE.path(), TABLE.path("csv"), DRAWING.path("pdf")) == (
        *("{place}scores.md", "{place}scores.csv", "drawing.pdf"),
    )


def test_what_the_report_says() -> None:
    said = TABLE.in_report(PLACES)
    assert (said["caption"], said["category"]) == ("../../a/scores.rst", "Tables")
    assert said["labels"](SimpleNamespace(place="second/")) == {"table": "Scores", "set": "second"}
    assert DRAWING.in_report(PLACES)["labels"](SimpleNamespace()) == {"figure": "Drawing"}
    assert selection().in_report(PLACES)["labels"](SimpleNamespace()) == {"result": "Data selection"}
