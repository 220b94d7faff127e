"""Facts that several files state, such as the version, are the same in all of them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

import nmt

ROOT = Path(__file__).parents[1]


@pytest.fixture
def project() -> dict[str, Any]:
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"])


@pytest.fixture
def citation() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "CITATION.cff").read_text()))


def test_one_version_and_one_date(citation: dict[str, Any]) -> None:
    newest = re.search(r"^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == nmt.__version__ == citation["version"]
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


@pytest.fixture
def jobs() -> dict[str, Any]:
    """The jobs of the host's continuous integration."""
    return dict(yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"])


def commands(job: dict[str, Any]) -> str:
    """What the steps of a job run."""
    return "\n".join(step.get("run", "") for step in job["steps"])


def test_continuous_integration_covers_every_python_and_system_that_is_promised(
    jobs: dict[str, Any], project: dict[str, Any]
) -> None:
    assert ".ci/run" in commands(jobs["run"])
    pythons = jobs["run"]["strategy"]["matrix"]["python"]
    assert project["requires-python"] == f">={pythons[0]}"
    for name in ("docs/installing.md", "CONTRIBUTING.md", "requirements.txt"):
        assert f"Python {pythons[0]} to {pythons[-1]}" in (ROOT / name).read_text(), name
    assert f"python={pythons[0]}" in (ROOT / "environment.yml").read_text()
    assert jobs["run"]["runs-on"].startswith("ubuntu-")
    assert "You need Linux on x86-64, or macOS on Apple silicon" in (ROOT / "docs/installing.md").read_text()
    assert jobs["macos"]["runs-on"].startswith("macos-")
    assert "make test" in commands(jobs["macos"])


def test_continuous_integration_tests_the_oldest_torch_and_solves_the_environment(
    jobs: dict[str, Any], project: dict[str, Any]
) -> None:
    oldest, newest = jobs["versions"]["strategy"]["matrix"]["package"]
    (torch,) = [line for line in project["dependencies"] if line.startswith("torch")]
    assert oldest == torch.replace(">=", "==") + ".*"
    assert newest == "numpy"
    assert jobs["conda"]["strategy"]["matrix"]["command"] == ["conda", "mamba"]
    assert "env create --yes --name solved --file environment.yml" in commands(jobs["conda"])
    assert "snakemake --use-conda" in commands(jobs["conda"])


def test_make_counts_the_cores_without_nproc(tmp_path: Path) -> None:
    for program in ("make", "bash", "sh", "getconf"):
        found = shutil.which(program)
        assert found is not None
        (tmp_path / program).symlink_to(found)
    command = ["make", "--dry-run", "demo"]
    run = subprocess.run(command, cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=True)
    assert f"--cores {os.cpu_count()} --resources gpu={os.cpu_count()} " in run.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["multi30k", 'MIRROR=Peter\'s "copy", of a'], 'mirror=Peter\'s "copy", of a'),
        (["open", "MIRROR=Peter's"], "mirror=Peter's"),
        (["demo", "SEEDS=[1, 2]"], "seeds=[1, 2]"),
        (["moses", "SOURCES=$$HOME/Peter's"], "$HOME/Peter's"),
    ],
)
def test_make_hands_on_what_it_is_given(words: list[str], expected: str) -> None:
    command = ["make", "--dry-run", "--old-file", ".venv/made", *words]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = re.split(r"(?<!\\)\n", run.stdout)
    assert any(expected in shlex.split(line) for line in lines if "Peter" in line or "seeds" in line)


def test_the_demonstration_has_no_mirror() -> None:
    """A variable of the environment may name the one of another experiment."""
    command = ["make", "--dry-run", "--old-file", ".venv/made", "demo", "demo-choi", "results/demo/report.html"]
    environment = os.environ | {"MIRROR": "/a/copy"}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert "mirror" not in run.stdout


def test_files_that_contributing_names_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    made = {"logs/select/", "tests/corpora/test_select.py"}
    paths = set(re.findall(r"`([\w./-]+/[\w./-]*)`", text))
    assert paths - made
    for path in paths - {"logs/select/", "nmt/model/attention/dot.py"}:  # made by a run, and by the reader
        assert (ROOT / path).exists(), path
