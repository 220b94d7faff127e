"""The folders of other experiments: their results are not written over, and their targets say who makes them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from nmt.settings.elsewhere import check_folders, check_report, experiments
from nmt.settings.experiment import Experiment, load
from nmt.settings.ownership import record
from nmt.system.errors import UserError

FILES = {
    "demo.yaml": "# A remark.\nextends: other.yaml\nexperiment: demo  # of two words\n",
    "paper/wmt.yaml": "experiment: wmt\nresults: 'results/papers/wmt'\nvariants: {a: {updates: 1}}\n",
    "paper/top.yaml": "experiment: top\nresults: results\n",
    "broken.yaml": "experiment: [\n",
    "list.yaml": "- a\n",
    "number.yaml": "experiment: 3\n",
}


@pytest.fixture(autouse=True)
def _configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        path = tmp_path / "config" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nmt.settings.elsewhere.PROJECT", tmp_path)


def experiment(name: str, results: str) -> Experiment:
    corpora = {"train": ["a"], "development": ["b"], "test": ["c"]}
    mapping = {"experiment": name, "results": results, "registry": "r.tsv", "corpora": corpora}
    mapping |= {"languages": {"source": "en", "target": "fr"}, "select": {"rule": "all"}}
    return load(mapping | {"variants": {"small": {"updates": 1}}})


def test_each_experiment_has_its_own_name_and_folder() -> None:
    assert experiments() == [
        (("config/demo.yaml",), "demo", "results/demo", ()),
        (("config/paper/top.yaml",), "top", "results", ()),
        (("config/paper/wmt.yaml",), "wmt", "results/papers/wmt", ()),
    ]


def test_what_is_no_file_is_passed_over() -> None:
    """Such as the lock of an editor: a link to nothing."""
    Path("config/.#demo.yaml").symlink_to("somebody@somewhere.1")
    Path("config/folder.yaml").mkdir()
    os.mkfifo("config/pipe.yaml")
    assert {one.name for one in experiments()} == {"demo", "top", "wmt"}


def test_another_experiments_folder_of_results_is_refused() -> None:
    refused = {
        "results/demo": r"is the folder of the experiment demo \(config/demo.yaml\), results/demo",
        "results/demo/index": r"is in the folder of the experiment demo \(config/demo.yaml\), results/demo",
        "results": r"is the folder of the experiment top \(config/paper/top.yaml\), results",
        "results/index": r"is in the folder of the experiment top \(config/paper/top.yaml\), results",
        "results/papers": r"holds the folder of the experiment wmt \(config/paper/wmt.yaml\), results/papers/wmt",
    }
    for folder, said in refused.items():
        with pytest.raises(UserError, match=rf"^config: results: {folder} {said}; name another$"):
            check_folders(experiment("mine", folder), [])
    check_folders(experiment("mine", "results/demolition"), [])
    check_folders(experiment("demo", "results/demo"), [])  # the same experiment, under further files
    check_folders(experiment("top", "results"), [])  # which the others' folders lie beside


def test_folders_nest_under_any_name() -> None:
    Path("results").mkdir()
    Path("link").symlink_to("results")
    for folder in (f"{Path.cwd()}/results/demo/x", "link/demo/x"):
        with pytest.raises(UserError, match="is in the folder of the experiment demo"):
            check_folders(experiment("mine", folder), [])
    check_folders(experiment("mine", "link/mine"), [])  # beside the others in `results`, which is that of `top`


def test_an_experiment_that_was_run_from_elsewhere_counts_too() -> None:
    Path("own").mkdir()
    Path("own/a.yaml").write_text("experiment: a\nresults: results/of-a\n")
    check_folders(experiment("b", "results/of-a"), [])
    record("a", ["config/demo.yaml", "own/a.yaml", "own/removed.yaml"], "results/of-a")
    with pytest.raises(
        UserError, match=r"is the folder of the experiment a \(own/a.yaml\), results/of-a; name another"
    ):
        check_folders(experiment("b", "results/of-a"), [])
    check_folders(experiment("a", "results/of-a"), [])
    Path("own/a.yaml").write_text("experiment: b\nresults: results/of-a\n")
    check_folders(experiment("b", "results/of-a"), [])  # the experiment has another name now


def test_a_file_that_was_run_under_another_name_is_nobody_elses() -> None:
    """As with `--config experiment=c`, or where a further file has the name."""
    Path("a.yaml").write_text("experiment: a\nresults: results/of-a\n")
    record("c", ["a.yaml"], "results/of-a")
    check_folders(experiment("c", "results/of-a"), [])
    assert "a" not in {one.name for one in experiments()}


@pytest.mark.parametrize("file", ["a.yaml", "config/demo.yaml"])
def test_the_results_of_a_name_on_the_command_line_are_its_own(file: str) -> None:
    Path("a.yaml").write_text("experiment: a\n")
    record("c", [file], "results/c")
    check_folders(experiment("c", "results/c"), ["results/c/table1.csv"])
    named = rf"{file} --config experiment=c"
    with pytest.raises(UserError, match=rf"^config: results: results/c is the folder of the experiment c \({named}\)"):
        check_folders(experiment("b", "results/c"), [])
    with pytest.raises(UserError, match=f"belongs to the experiment c, but this one is b; give --configfile {named}$"):
        check_folders(experiment("b", "results/b"), ["results/c/table1.csv"])


def test_a_name_on_the_command_line_takes_no_folder_from_its_file() -> None:
    """The folder of results was on the command line, too."""
    Path("a.yaml").write_text("experiment: a\nresults: results/paper\n")
    Path("b c.yaml").write_text("seed: 1\n")
    record("c", ["a.yaml", "b c.yaml"], "results/try")
    check_folders(experiment("a", "results/paper"), [])
    named = "c (a.yaml 'b c.yaml' --config experiment=c results=results/try)"
    with pytest.raises(UserError, match=re.escape(f"is the folder of the experiment {named}")):
        check_folders(experiment("a", "results/try"), [])
    Path("b c.yaml").unlink()
    check_folders(experiment("a", "results/try"), [])


def test_a_folder_of_results_on_the_command_line_is_the_experiments_own() -> None:
    """Beside the one that its file names."""
    Path("a.yaml").write_text("experiment: a\n")
    record("a", ["a.yaml"], "results/shared")
    for folder, words in {"shared": "a.yaml --config results=results/shared", "a": "a.yaml"}.items():
        with pytest.raises(UserError, match=rf"is the folder of the experiment a \({words}\)"):
            check_folders(experiment("b", f"results/{folder}"), [])
        check_folders(experiment("a", f"results/{folder}"), [f"results/{folder}/table1.csv"])
    said = r"^results/shared/x: not in the folder of results of this run, which is results/a$"
    with pytest.raises(UserError, match=said):
        check_folders(experiment("a", "results/a"), ["results/shared/x"])
    record("a", ["a.yaml"], "results/a")
    check_folders(experiment("b", "results/shared"), [])


def test_a_folder_of_results_in_a_further_file_is_the_experiments_own() -> None:
    Path("a.yaml").write_text("experiment: a\n")
    Path("b.yaml").write_text("results: results/shared\n")
    record("a", ["a.yaml", "b.yaml"], "results/shared")
    with pytest.raises(UserError, match=r"is the folder of the experiment a \(a.yaml b.yaml\), results/shared"):
        check_folders(experiment("b", "results/shared"), [])


def test_an_empty_folder_of_results_is_nobodys() -> None:
    Path("config/a.yaml").write_text("experiment: a\nresults: ''\n")
    check_folders(experiment("b", "results/b"), [])


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffexperiment: a\nresults: results/of-a\n",
        "experiment: a\r\nresults: results/of-a\r\n",
        "'experiment': a\n\"results\": results/of-a\n",
        "experiment : a\nresults :\n  results/of-a\n",
        "  experiment: a\n  results: results/of-a\n",
        "x: &folder results/of-a\nexperiment: a\nresults: *folder\n",
        '{"experiment": "a", "results": "results/of-a"}',
        "experiment: a\nresults: ~/results/of-a\n",
        "experiment: >-\n  a\nresults: |-\n  results/of-a\n",
        "experiment: a # b\nresults: results/of-a # c\n",
    ],
)
def test_names_and_folders_are_read_as_yaml_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    Path("config/a.yaml").write_bytes(text.encode())
    with pytest.raises(UserError, match=r"is the folder of the experiment a \(config/a.yaml\)"):
        check_folders(experiment("b", "results/of-a"), [])


def test_a_file_that_cannot_be_reached_is_passed_over() -> None:
    record("a", ["a" * 300], "results/of-a")  # as in another user's folder
    assert "a" not in {one.name for one in experiments()}


@pytest.mark.parametrize("target", ["results/demo/table1.csv", "./results/demo/a/b.csv", "data/demo/models/x"])
def test_a_target_of_another_experiment_names_its_file(target: str) -> None:
    with pytest.raises(UserError, match=r"experiment demo, but this one is wmt; give --configfile config/demo\.yaml$"):
        check_folders(experiment("wmt", "results/papers/wmt"), ["all", target])
    check_folders(experiment("demo", "results/demo"), [target])
    check_folders(experiment("wmt", "results/papers/wmt"), ["--report", target])


def test_a_report_does_not_replace_a_result() -> None:
    demo, files = experiment("demo", "results/demo"), ["<results>/index.html", "<results>/table1.csv"]
    check_report(demo, ["--report", "results/report.html"], files)  # before the first run made the folder
    Path("results").mkdir()
    check_report(demo, ["all", "--report"], files)
    for file in ("results/demo/report.html", "results/table1.csv"):
        check_report(demo, ["--report", file, "results/demo/index.html"], files)
    for words in (["--report", "results/demo/index.html"], ["--report=results/demo/../demo/table1.csv"]):
        with pytest.raises(
            UserError, match=r"^--report results/demo.*: the run writes this file itself; name another$"
        ):
            check_report(demo, words, files)
    with pytest.raises(UserError, match=r"^--report results/dem/x\.zip: no such folder; make it, or name another$"):
        check_report(demo, ["--report", "results/dem/x.zip"], files)
    with pytest.raises(UserError, match=r"^--report data/demo/x\.html: the run writes"):
        check_report(demo, ["--report", "data/demo/x.html"], files)


def test_a_link_to_another_experiments_folder_of_results_is_refused() -> None:
    Path("results/demo").mkdir(parents=True)
    Path("results/linked").symlink_to("demo")
    with pytest.raises(UserError, match=r"results/linked is the folder of the experiment demo \(config/demo.yaml\)"):
        check_folders(experiment("mine", "results/linked"), [])


def test_a_target_of_nobody_else_is_accepted() -> None:
    check_folders(
        experiment("mine", "results/mine"), ["all", "verify", "results/mine/table1.csv", "data/mine/x", "/x/y"]
    )
    check_folders(experiment("wmt", "results/papers/wmt"), ["--report", "results/report.zip", "results/dem/table1.csv"])
    check_folders(experiment("demo", "results/demo"), ["results/demo", "results/demo/"])
    for option in ("--report-stylesheet", "--archive"):
        check_folders(experiment("demo", "results/demo"), [option, "results/x"])
    with pytest.raises(UserError, match=r"experiment demo, but this one is mine; give --configfile config/demo\.yaml"):
        check_folders(experiment("mine", "results/mine"), ["results/demo"])
    with pytest.raises(UserError, match=r"experiment top, but this one is wmt; give --configfile config/paper/top"):
        check_folders(experiment("wmt", "results/papers/wmt"), ["results/table1.csv"])


def test_the_projects_experiments_count_too_unless_a_file_here_hides_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    (here / "config/paper").mkdir(parents=True)
    (here / "config/paper/wmt.yaml").write_text("experiment: mine\n")
    monkeypatch.chdir(here)
    demo = ((str(tmp_path / "config/demo.yaml"),), "demo", "results/demo", ())
    top = ((str(tmp_path / "config/paper/top.yaml"),), "top", "results", ())
    assert experiments() == [demo, top, (("config/paper/wmt.yaml",), "mine", "results/mine", ())]
