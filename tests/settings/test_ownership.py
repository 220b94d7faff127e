"""The data of an experiment belong to one file, and the experiment that ran last is known by them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from nmt.settings.ownership import FOLDERS, PROVENANCE, RECORD, check_owner, check_results, last_run, record
from nmt.settings.project import PROJECT
from nmt.system.errors import UserError


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path(f"{name}.yaml").write_text("experiment: mine\n")
    Path("over.yaml").write_text("seed: 3\n")


def test_a_second_file_of_the_same_name_is_refused() -> None:
    check_owner("mine", ["a.yaml"])
    record("mine", ["a.yaml"], "results/mine")
    for files in (["b.yaml"], ["a.yaml", "b.yaml"], ["b.yaml", "over.yaml"]):
        with pytest.raises(UserError, match=r"^b\.yaml: experiment mine is also that of a\.yaml, .* another name$"):
            check_owner("mine", files)


def test_a_name_on_the_command_line_is_refused_where_another_file_gives_it() -> None:
    record("mine", ["a.yaml"], "results/mine")
    with pytest.raises(UserError, match=r"^over\.yaml: experiment mine is also that of a\.yaml, whose data"):
        check_owner("mine", ["over.yaml"])
    check_owner("mine", [])
    record("named", ["over.yaml"], "results/named")
    check_owner("named", ["over.yaml"])


def test_data_of_a_name_on_the_command_line_belong_to_the_file_that_was_run() -> None:
    record("trial", ["a.yaml", "over.yaml"], "results/trial")
    assert last_run() == (["a.yaml", "over.yaml"], {"experiment": "trial"})
    for files in (["a.yaml"], ["a.yaml", "over.yaml"], ["over.yaml", "./a.yaml"]):
        check_owner("trial", files)
    for files in (["b.yaml"], ["b.yaml", "over.yaml"], ["over.yaml"]):
        with pytest.raises(
            UserError, match=rf"^{files[0]}: experiment trial is also that of a\.yaml, whose data are in"
        ):
            check_owner("trial", files)
    Path("a.yaml").unlink()
    Path("over.yaml").unlink()
    check_owner("trial", ["b.yaml"])


def test_a_file_that_extends_another_stands_for_an_experiment_named_on_the_command_line() -> None:
    """Not a file of a few settings beside it."""
    for name in ("one", "other"):
        Path(f"{name}.yaml").write_text("extends: a.yaml\n")
    for files in (["one.yaml"], ["one.yaml", "over.yaml"], ["over.yaml", "one.yaml"]):
        record("trial", files, "results/trial")
        for same in (["one.yaml"], ["one.yaml", "over.yaml"], ["over.yaml", "one.yaml"]):
            check_owner("trial", same)
        for different in (["other.yaml"], ["other.yaml", "over.yaml"]):
            with pytest.raises(
                UserError, match=r"^other\.yaml: experiment trial is also that of one\.yaml, whose data"
            ):
                check_owner("trial", different)
    Path("one.yaml").write_text("seed: 1\n")
    record("trial", ["one.yaml", "over.yaml"], "results/trial")
    check_owner("trial", ["one.yaml"])


def test_the_same_file_under_further_ones_is_accepted() -> None:
    Path("link.yaml").symlink_to("a.yaml")
    record("mine", ["a.yaml", "over.yaml"], "results/mine")
    for files in (["a.yaml"], ["./a.yaml", "over.yaml"], [os.path.abspath("a.yaml")], ["link.yaml"]):
        check_owner("mine", files)


def test_a_file_may_be_moved_or_give_up_the_name() -> None:
    record("mine", ["a.yaml"], "results/mine")
    Path("a.yaml").rename("moved.yaml")
    check_owner("mine", ["moved.yaml"])
    Path("a.yaml").write_text("experiment: other\n")
    check_owner("mine", ["moved.yaml"])


@pytest.mark.parametrize(
    "text", ["{", "[]", "[1]", '{"a": 1}', "null", "[" * 99999, '["gone.yaml"]', '{"files": 1, "settings": {}}']
)
def test_a_damaged_record_is_no_record(text: str) -> None:
    record("mine", ["a.yaml"], "results/mine")
    Path("data/mine", RECORD).write_text(text)
    check_owner("mine", ["b.yaml"])
    assert last_run() is None


def test_the_experiment_that_ran_last() -> None:
    assert last_run() is None
    for time, (name, files) in enumerate(
        {"one": ["a.yaml"], "two": ["b.yaml", "over.yaml"], "three": ["c"]}.items(), 1
    ):
        record(name, files, "results/mine")
        os.utime(Path("data", name, RECORD), (time, time))
    own = {"experiment": "two", "results": "results/mine"}
    assert last_run() == (["b.yaml", "over.yaml"], own)  # the file of the third is gone
    record("mine", ["a.yaml"], "results/mine")
    assert json.loads(Path("data/mine", RECORD).read_text()) == ["a.yaml"]
    assert last_run() == (["a.yaml"], {})


def test_the_results_of_another_experiment_are_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its provenance, unless its data are gone; also in the project's own folder."""
    monkeypatch.setattr("nmt.settings.ownership.PROJECT", Path.cwd())
    Path("results/a").mkdir(parents=True)
    Path("results/a", PROVENANCE).write_text('{"experiment": "a"}')
    check_results("b", "results/a", ["<results>/table1.csv"])
    record("a", ["a.yaml"], "results/elsewhere")
    check_results("a", "results/a", ["<results>/table1.csv"])
    with pytest.raises(UserError, match=r"^config: results: results/a has the results of the experiment a, whose data"):
        check_results("b", "results/a", ["<results>/table1.csv"])


def test_a_folder_of_results_on_the_command_line_moves_with_the_project() -> None:
    record("mine", ["a.yaml"], os.path.abspath("results/try"))
    assert last_run() == (["a.yaml"], {"results": "results/try"})


@pytest.mark.parametrize("name", ["table1.csv", PROVENANCE])
def test_files_that_no_run_has_made_are_not_replaced(name: str) -> None:
    Path("thesis").mkdir()
    Path("thesis/notes.txt").touch()
    check_results("mine", "thesis", ["<results>/table1.csv"])
    Path("thesis", name).touch()
    message = (
        rf"^config: results: thesis/{name} is there already, and nothing in data/mine says that a run has made it;"
    )
    with pytest.raises(UserError, match=message):
        check_results("mine", "thesis", ["<results>/figure2.pdf", "<results>/table1.csv"])


def test_one_folder_under_two_names_is_refused() -> None:
    record("mine", ["a.yaml"], "results/mine")
    Path("data/other").symlink_to("mine")
    Path("data/gone").symlink_to("nowhere")
    Path("data/odd").symlink_to("x" * 300)
    with pytest.raises(UserError, match=r"^data/other: the same folder as data/mine; give each experiment a folder"):
        check_owner("other", ["b.yaml"])
    check_owner("new", ["over.yaml"])


def test_a_folder_that_is_moved_keeps_its_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, elsewhere = tmp_path / "first", tmp_path / "second", tmp_path / "elsewhere"
    for folder in (first / "results", elsewhere):
        folder.mkdir(parents=True)
        (folder / "table1.csv").touch()
    monkeypatch.chdir(first)
    record("mine", ["a.yaml"], "results")
    record("mine", ["a.yaml"], str(elsewhere))
    first.rename(second)
    monkeypatch.chdir(second)
    for results in ("results", str(elsewhere)):
        check_results("mine", results, ["<results>/table1.csv"])


def test_a_run_may_replace_its_own_results() -> None:
    for folder in ("one", "two"):
        Path(folder).mkdir()
        Path(folder, "table1.csv").touch()
    files = ["<results>/table1.csv"]
    record("mine", ["a.yaml"], "one")
    record("mine", ["a.yaml"], "two")
    for folder in ("one", "./two", os.path.abspath("one")):
        check_results("mine", folder, files)
    Path("data/mine", FOLDERS).write_text("{")
    with pytest.raises(UserError, match="nothing in data/mine"):
        check_results("mine", "one", files)


def test_copied_results_are_known_by_their_provenance() -> None:
    Path("copied").mkdir()
    Path("copied/table1.csv").touch()
    Path("copied", PROVENANCE).write_text('{"experiment": "mine"}')
    check_results("mine", "copied", ["<results>/table1.csv"])
    with pytest.raises(UserError, match="nothing in data/other"):
        check_results("other", "copied", ["<results>/table1.csv"])


def test_the_results_of_the_project_may_be_replaced() -> None:
    check_results("open", str(PROJECT / "results/open"), ["<results>/table1.csv"])
