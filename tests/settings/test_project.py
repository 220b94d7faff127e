"""A relative path is that of the working directory, or else the project's."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.settings.extends import read_experiment
from nmt.settings.project import PROJECT, find


def test_the_working_directory_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find("data/demo.tsv") == str(PROJECT / "data/demo.tsv")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/demo.tsv").touch()
    assert find("data/demo.tsv") == "data/demo.tsv"


@pytest.mark.parametrize("path", ["data/none.tsv", "", "/none"])
def test_a_path_that_is_nowhere_stays_as_it_is(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find(path) == path


def test_an_experiment_elsewhere_extends_one_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").write_text("extends: config/demo.yaml\nexperiment: mine\n")
    monkeypatch.chdir(tmp_path)
    assert read_experiment(["mine.yaml"]).variants == read_experiment(["demo"]).variants
