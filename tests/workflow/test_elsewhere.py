"""The workflow outside its folder: by path, as a module, after `nmt new`, in conda; and readers that leave."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpora.sentences import write_files
from tests.workflow.tree import MARK, ROOT, SMOKE, Tree, jobs, mark, variables

HOST = """\
module nmt:
    snakefile:
        "{snakefile}"
    config:
        dict(extends="tests/workflow/smoke.yaml", experiment="hosted")
{prefix}

use rule * from nmt as nmt_*


rule mine:
    input:
        "data/hosted/evaluation/RNNsearch-50/toy-test.json",
    output:
        "mine.txt",
    default_target: True
    shell:
        "cp {{input}} {{output}}"
"""
SMALL = """\
experiment: small
languages: {source: en, target: fr}
registry: data/demo.tsv
mirror: generated
generated: {pairs: 300, development: 20, test_bin: 5}
corpora: {train: [toy-news], development: [toy-dev-1], test: [toy-test]}
select: {rule: all}
shortlist: {size: 100}
defaults: {embedding: 8, hidden: 12, alignment: 10, maxout: 6, output_rank: null, batch: 8, evaluate_every: 1}
threads: {train: 1}
variants: {one: {updates: 30}}
"""
# Root may read everything, unless it gives up the right to.
DROPPED = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
WITHOUT_ROOTS_RIGHTS = DROPPED if os.geteuid() == 0 else []
MODEL = "data/smoke/models/RNNsearch-50/model.safetensors"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A copy of the project, in which nothing is made."""
    folder = tmp_path_factory.mktemp("project") / "a folder"
    folder.mkdir()
    project = Tree(folder)
    mark(project)
    return project


@pytest.fixture
def here(tmp_path: Path) -> Tree:
    """An empty folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    return Tree.at(folder)


def copy_made(finished: Path, here: Tree) -> None:
    """Copy what was made in the folder `finished`."""
    for made in ("data", "results", "logs", "benchmarks", ".snakemake"):
        shutil.copytree(finished / made, here.folder / made, symlinks=True)


def test_another_folder_makes_no_stage_again(finished: Path, project: Tree, here: Tree) -> None:
    """What was made in the project is moved: only the pages name files of the project by their paths."""
    copy_made(finished, here)
    command = ["--dry-run", "-s", str(project.folder / "Snakefile")]
    planned = {rule for rule, _ in jobs(here.snakemake(*command, configs=[str(project.folder / SMOKE[0])]))}
    assert {rule for rule in planned if not rule.startswith(("sheet_", "index"))} == set()


def test_an_experiment_that_names_a_file_of_the_project_is_planned_elsewhere(project: Tree, here: Tree) -> None:
    config = str(project.folder / "config/choi2017/wmt15-ende.yaml")
    planned = jobs(here.snakemake("--dry-run", "-s", str(project.folder / "Snakefile"), configs=[config]))
    assert ("specialized_dimensions", "") in planned


def test_another_workflow_uses_it_as_a_module(project: Tree, here: Tree) -> None:
    snakefile = here.folder / "Snakefile"
    snakefile.write_text(HOST.format(snakefile=project.folder / "workflow/Snakefile", prefix=""))
    planned = {rule for rule, _ in jobs(here.snakemake("--dry-run", configs=[]))}
    assert {"mine", "nmt_fetch", "nmt_train", "nmt_translate", "nmt_evaluate"} <= planned
    assert "nmt_index" not in planned
    all_of_it = jobs(here.snakemake("--dry-run", "nmt_all", configs=[]))
    assert {("nmt_train", "RNNencdec-30"), ("nmt_index", "")} <= set(all_of_it)


def test_a_run_of_a_module_goes_on_and_knows_its_steps_by_their_own_names(project: Tree, here: Tree) -> None:
    """Snakemake calls no `onstart` of a module, and its rules have other names."""
    (here.folder / "small.yaml").write_text(SMALL)
    host = HOST.format(snakefile=project.folder / "workflow/Snakefile", prefix="")
    (here.folder / "Snakefile").write_text(host.replace("tests/workflow/smoke.yaml", "small.yaml"))
    run = here.snakemake("results/hosted/selection.csv", "--cores", "1", "--logger", "nmt", configs=[])
    assert run.returncode == 0, run.stdout[-4000:]
    assert "tables and figures " in run.stdout
    rest = here.snakemake("--dry-run", "--printshellcmds", "results/hosted/provenance.json", configs=[])
    assert ("nmt_train", "one") in jobs(rest)
    [rules] = re.findall(r"nmt provenance .* --rules (.*) --output", rest.stdout)
    assert {"train", "translate"} <= {*rules.split()}
    report = here.snakemake("--report", "report.zip", "results/hosted/selection.csv", configs=[])
    assert report.returncode == 0, report.stdout
    assert "WARNING" not in report.stdout  # of the text that begins the report: that is the other workflow's


def test_the_configuration_of_another_workflow_is_its_own(project: Tree, here: Tree) -> None:
    (here.folder / "small.yaml").write_text(SMALL)
    host = HOST.format(snakefile=project.folder / "workflow/Snakefile", prefix="")
    (here.folder / "Snakefile").write_text(host.replace("tests/workflow/smoke.yaml", "small.yaml"))
    for name in ("one", "other"):
        (here.folder / f"{name}.yaml").write_text(f"extends: {name}\nexperiment: {name}\nvariants: {{{name}: null}}\n")
    run = here.snakemake("--dry-run", "--configfile", "one.yaml", "other.yaml", "--", "nmt_all", configs=[])
    assert ("nmt_train", "one") in jobs(run)
    assert "nmt: warning" not in run.stdout


def test_a_module_with_a_prefix_is_a_line(project: Tree, here: Tree) -> None:
    """Params name folders, too, and Snakemake would change inputs and outputs alone."""
    prefix = '    prefix:\n        "inner"'
    text = HOST.format(snakefile=project.folder / "workflow/Snakefile", prefix=prefix)
    (here.folder / "Snakefile").write_text(text)
    run = here.snakemake("--dry-run", configs=[])
    assert run.returncode == 1
    assert "snakemake: module: a prefix cannot be used; name the folders by `experiment` and `results`\n" in run.stdout


def test_a_new_experiment_is_planned_where_it_is_written(here: Tree) -> None:
    write_files(here.folder, "de", "fi")
    texts = [word for name in ("train", "dev", "test") for word in (f"--{name}", f"{name}.de", f"{name}.fi")]
    said = here.nmt("new", "mine", *texts)
    program, *words = shlex.split(said.split("\n")[1])
    assert (program, words[-1]) == ("snakemake", "config/mine.yaml")
    assert ("train", "RNNsearch") in jobs(here.snakemake("--dry-run", *words, configs=[]))
    assert "RNNsearch  not begun" in here.nmt("status", "mine")


def test_jobs_in_conda_find_the_package(project: Tree, here: Tree, conda: Path) -> None:
    (here.folder / "small.yaml").write_text(SMALL)
    command = ["-s", str(project.folder / "Snakefile"), "--use-conda", "--cores", "1", "--configfile", "small.yaml"]
    run = here.snakemake(*command, "--until", "generate", configs=[], path=str(conda / "bin"))
    assert run.returncode == 0, run.stdout[-4000:]
    [log] = (here.folder / "logs/generate").rglob("*.log")
    assert MARK in log.read_text()


def test_a_folder_with_braces_around_the_users_own_is_no_matter(project: Tree, tmp_path: Path) -> None:
    """The project's path is plain, however it is named."""
    here = Tree.at(tmp_path / "{own}")
    here.folder.mkdir()
    (here.folder / "small.yaml").write_text(SMALL)
    snakefile = os.path.relpath(project.folder / "Snakefile", here.folder)
    assert ("train", "one") in jobs(here.snakemake("--dry-run", "-s", snakefile, configs=["small.yaml"]))


@pytest.mark.parametrize("folder", ["data/small", "data/small/checkpoints", "data/small/models"])
def test_a_folder_without_permission_is_a_line(project: Tree, here: Tree, folder: str) -> None:
    (here.folder / "small.yaml").write_text(SMALL)
    for kind in ("checkpoints", "models"):
        (here.folder / f"data/small/{kind}/one").mkdir(parents=True)
    closed = here.folder / folder
    closed.chmod(0)
    command = [sys.executable, "-m", "snakemake", "--dry-run", "-s", str(project.folder / "Snakefile")]
    run = subprocess.run(
        [*WITHOUT_ROOTS_RIGHTS, *command, "--configfile", "small.yaml"],
        cwd=here.folder,
        env=os.environ | variables(""),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    closed.chmod(0o755)
    assert run.returncode == 1
    assert re.search(rf"\nsnakemake: {folder}\S*: Permission denied\n$", run.stdout)


def test_files_called_as_modules_change_no_job(project: Tree, here: Tree) -> None:
    (here.folder / "small.yaml").write_text(SMALL)
    for name in ("nmt", "random", "tokenize"):
        (here.folder / f"{name}.py").write_text("raise SystemExit('not a module')\n")
    command = ["-s", str(project.folder / "Snakefile"), "--cores", "1", "--configfile", "small.yaml"]
    run = here.snakemake(*command, "--until", "generate", configs=[])
    assert run.returncode == 0, run.stdout[-4000:]


def test_a_run_goes_on_when_its_reader_leaves(finished: Path, here: Tree) -> None:
    """The reader of both outputs leaves while a model is trained, as `| head` does."""
    copy_made(finished, here)
    (here.folder / "longer.yaml").write_text("variants: {RNNsearch-50: {updates: 60}}\n")
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--cores", "2", "--logger", "nmt"]
    with subprocess.Popen(
        [*command, "--configfile", str(ROOT / SMOKE[0]), "longer.yaml", "--", MODEL],
        cwd=here.folder,
        env=os.environ | variables(""),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        said = ""
        while "\nlocalrule train:\n" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        process.stdout.close()
        try:
            assert process.wait(600) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert (here.folder / MODEL).is_file()
    assert "60 updates in" in (here.folder / "logs/train/smoke/RNNsearch-50.log").read_text()
