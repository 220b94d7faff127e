"""The picture of the workflow: its rules, its rows, and that the committed one shows the rules of today."""

from __future__ import annotations

import re

import pytest

from bench.workflow import OUTPUT, read_graph, reduced, rows, rule_graph
from tests.numbers import ROOT

DOT = """digraph snakemake_dag {
    0[label = "all", color = "x"];
    1[label = "index", color = "x"];
    2[label = "sheet_a", color = "x"];
    3[label = "train", color = "x"];
    4[label = "select", color = "x"];
    5[label = "tool", color = "x"];
    1 -> 0
    3 -> 1
    3 -> 2
    4 -> 3
    4 -> 1
    5 -> 1
}"""


def test_rules_stand_below_what_they_need() -> None:
    graph = read_graph(DOT)
    assert graph == {"index": {"train", "select", "tool"}, "train": {"select"}, "select": set(), "tool": set()}
    ordered, whole = rows(graph)
    assert ordered[0] == ["select"]
    assert sorted(ordered[1]) == ["select>index>1", "tool", "train"]
    assert whole["index"] == {"train", "select>index>1", "tool"}
    assert reduced(graph)["index"] == {"train", "tool"}


def test_the_picture_shows_the_rules_of_the_demonstration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    drawn = set(re.findall(r"<!-- (\w+) -->", OUTPUT.read_text()))
    assert read_graph(rule_graph()).keys() <= drawn, "python -m bench.workflow draws the picture again"
