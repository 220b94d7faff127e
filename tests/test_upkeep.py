"""Facts that several files state, such as the version, are the same in all of them."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]


@pytest.fixture
def project() -> dict[str, Any]:
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"])


@pytest.fixture
def citation() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "CITATION.cff").read_text()))


def test_one_version_and_one_date(project: dict[str, Any], citation: dict[str, Any]) -> None:
    newest = re.search(r"^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == project["version"] == citation["version"]
    assert newest[2] == citation["date-released"] == date.fromisoformat(newest[2]).isoformat()


def test_one_licence_and_one_author(project: dict[str, Any], citation: dict[str, Any]) -> None:
    [licence] = project["license-files"]
    title, _, copyright_line, *_ = (ROOT / licence).read_text().split("\n")
    assert title == f"{project['license']} License"
    assert citation["license"] == project["license"]
    [author] = project["authors"]
    assert citation["authors"] == [author]
    assert copyright_line.endswith(author["name"])


def test_both_papers_are_cited(citation: dict[str, Any]) -> None:
    papers = {(paper["authors"][0]["family-names"], paper["year"]) for paper in citation["references"]}
    assert papers == {("Bahdanau", 2015), ("Choi", 2018)}
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    for paper in citation["references"]:
        assert {"type", "title", "authors", "year", "url"} <= paper.keys()


def test_the_hosts_continuous_integration_runs_ours() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    steps = workflow["jobs"]["run"]["steps"]
    assert any(".ci/run" in step.get("run", "") for step in steps)
    [python] = [step["with"]["python-version"] for step in steps if "setup-python" in step.get("uses", "")]
    assert python in (ROOT / "environment.yml").read_text()


def test_files_that_contributing_names_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    made = {"logs/select/", "tests/corpora/test_select.py"}
    paths = set(re.findall(r"`([\w./-]+/[\w./-]*)`", text))
    assert paths - made
    for path in paths - {"logs/select/"}:
        assert (ROOT / path).exists(), path
