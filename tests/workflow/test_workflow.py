"""The whole DAG at smoke size, and what is said of mistakes. What a change reruns is in test_reruns.

All of it happens in a copy of the tree; the checkout is only read.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nmt.corpora.binarize import Bitext
from nmt.settings.experiment import MOSES_ALIGNERS, MOSES_PROGRAMS, MOSES_SCRIPTS
from nmt.settings.extends import PAPER
from nmt.trained import CODES, load_trained
from tests.system.test_claims import running
from tests.waiting import wait_until
from tests.workflow import detached
from tests.workflow.tree import SMOKE, VARIANTS, Tree, jobs

SHORTLIST = "data/smoke/shortlist/fr.tsv"
MAKE_SHORTLIST = [SHORTLIST, "--forcerun", "shortlist", "--configfile", *SMOKE]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return Tree(tmp_path_factory.mktemp("tree"))


@pytest.fixture
def here(finished: Path, tmp_path: Path) -> Tree:
    """A copy of the finished experiment, for one test."""
    shutil.copytree(finished, tmp_path / "tree", symlinks=True)
    return Tree.at(tmp_path / "tree")


def test_whole_experiment_is_made(done: Tree) -> None:
    results = done.folder / "results/smoke"
    tables = ["selection.csv", "coverage.csv", "table1.csv", "table1.md", "table1.tex", "table2.csv", "table3.md"]
    tables += ["learning_curves.csv"]
    tables += ["significance.csv", "significance.md"]
    figures = ["ratings", "figure1", "figure2", "figure3", "learning_curves"]
    figures = [f"{figure}.{ending}" for figure in figures for ending in ("pdf", "svg", "png")]
    for name in [*tables, *figures]:
        assert (results / name).stat().st_size > 0
    labels = [line.split(",")[0] for line in (results / "table1.csv").read_text().split("\n")]
    assert labels[1:] == ["RNNencdec-30", "RNNsearch-50", "RNNsearch-50*", "Phrase-based (Thot)", ""]
    assert {path.name for path in (done.folder / "data/smoke/models").iterdir()} == VARIANTS
    record = json.loads((results / "provenance.json").read_text())
    assert {*record["models"]} == VARIANTS
    assert {*record["code"]} == {"translate", "evaluate", *(f"train {name}" for name in VARIANTS)}
    assert {"fetch", "train", "translate", "index"} <= {*record["seconds"]}
    assert record["command"].startswith("snakemake ")
    assert record["configuration"]["experiment"] == "smoke"
    assert {"train.en", "development.fr", "toy-test.en"} <= {*record["texts"]}


def test_the_logger_prints_a_line_for_each_stage(finished: Path, for_all: Path) -> None:
    printed = (for_all / "finished.txt").read_text().split("\n")
    # 20 updates after the 30 of RNNsearch-50
    assert [line for line in printed if re.search(r"RNNsearch-50\* +50 updates ", line)]
    assert [line for line in printed if "BLEU on toy-test: RNNencdec-30 " in line]


def test_the_training_likelihood_is_of_pairs_that_the_model_trains_on(done: Tree) -> None:
    text = Bitext(done.folder / "data/smoke/binarized")
    longer = np.maximum(text.source_lengths, text.target_lengths)
    for variant in VARIANTS:
        figures = json.loads((done.folder / f"data/smoke/nll/{variant}/train.json").read_text())
        short = int((longer <= (30 if "30" in variant else 50)).sum())
        assert (figures["pairs"], figures["short_pairs"], figures["sentences"]) == (len(text), short, 20)
    assert (longer > 30).any()


def test_without_the_fallback_translations_may_be_unfinished(done: Tree) -> None:
    """The smoke experiment switches it off, and its models end hardly any translation."""
    scores = done.folder / "data/smoke/translations/RNNencdec-30/toy-test.scores.tsv"
    assert scores.read_text().count("\t0\n") > 60


def interrupt(tree: Tree, number: signal.Signals, name: str, *words: str) -> tuple[int, str]:
    """Run Snakemake until the training of the variant `name` writes metrics; its exit code and messages after a signal.

    As Ctrl-C in a terminal and the end of a cluster's job do it: all processes get the signal, tee included.
    """
    metrics = tree.folder / f"data/smoke/checkpoints/{name}/metrics.jsonl"
    with tree.start(*words, configs=[]) as process:
        try:
            wait_until(
                lambda: metrics.exists() and metrics.stat().st_size, "metrics", 0.1, lambda: process.poll() is None
            )
            os.killpg(process.pid, number)
            said, _ = process.communicate(timeout=120)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, said


def test_a_setting_that_is_taken_back_costs_no_training(here: Tree) -> None:
    """Snakemake has deleted the model by then, and asks for it only where something is to be made from it."""
    name = "RNNsearch-50star"
    target = f"data/smoke/models/{name}/model.safetensors"
    whole = (here.folder / target).read_bytes()
    (here.folder / "mistaken.yaml").write_text(f"variants: {{{name}: {{updates: 100000}}}}\n")
    assert interrupt(here, signal.SIGINT, name, "--cores", "1", "--configfile", *SMOKE, "mistaken.yaml")[0] == 1
    assert not (here.folder / target).exists()
    assert [variant for rule, variant in here.plan() if rule == "train"] == [name]
    again = here.snakemake(target, "--cores", "1", "--configfile", *SMOKE, configs=[])
    assert again.returncode == 0, again.stdout
    assert ": resumes from the checkpoint of update 50" in again.stdout
    assert (here.folder / target).read_bytes() == whole


def test_a_model_of_words_takes_the_place_of_one_of_subwords(here: Tree) -> None:
    """Snakemake deletes the outputs that both have, and leaves the codes."""
    folder = here.folder / "data/smoke/models/RNNencdec-30"
    whole = (folder / "model.safetensors").read_bytes()
    for file in folder.iterdir():
        file.unlink()
    for name in CODES:
        (folder / name).touch()
    target = "data/smoke/models/RNNencdec-30/model.safetensors"
    again = here.snakemake(target, "--cores", "1", "--configfile", *SMOKE, configs=[])
    assert again.returncode == 0, again.stdout
    assert (folder / "model.safetensors").read_bytes() == whole
    load_trained(folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_training_that_is_stopped_says_so_and_can_go_on(done: Tree, number: signal.Signals) -> None:
    name = f"RNNsearch-{number.name}"
    overlay = f"variants: {{{name}: {{prototype: RNNsearch, updates: 100000}}}}\n"
    (done.folder / "stopped.yaml").write_text(overlay)
    folder, model = (done.folder / f"data/smoke/{kind}/{name}" for kind in ("checkpoints", "models"))
    target = f"data/smoke/models/{name}/model.safetensors"
    code, said = interrupt(done, number, name, target, "--cores", "1", "--configfile", *SMOKE, "stopped.yaml")
    assert code == 1
    line = f"nmt train: stopped; data/smoke/checkpoints/{name}/latest.pt is written, the same command resumes from it"
    assert line in said
    assert line in (done.folder / f"logs/train/smoke/{name}.log").read_text()
    assert (folder / "latest.pt").exists()
    assert not model.exists() or not any(model.iterdir())


def test_sigterm_ends_a_snakemake_that_waits_for_outputs(here: Tree) -> None:
    """In a job on a cluster, too, whose Snakemake runs without hooks."""
    path, said = here.folder / "path", here.folder / "said"
    path.mkdir()
    (path / "python").write_text("#!/bin/sh\n")
    (path / "python").chmod(0o755)
    words = ("--cores", "1", "--no-hooks", "--latency-wait", "5", "--forcerun", "shortlist")
    with here.start(*words, configs=SMOKE, path=str(path), said=said) as process:
        try:
            wait_until(lambda: "Waiting at most 5 seconds" in said.read_text(), "it waits", 0.1)
            process.terminate()
            assert process.wait(60) == 1
        finally:
            process.kill()


def test_a_job_of_a_killed_run_ends_before_its_step_is_taken_again(here: Tree) -> None:
    """Otherwise it would replace what the later run has made, with the settings of the earlier one."""
    with running(here.folder, "smoke", "shortlist:language=fr") as earlier:
        local = here.snakemake("--cores", "1", *MAKE_SHORTLIST, configs=[])
        assert local.returncode == 1
        assert "snakemake: shortlist: a job of a killed run still does this on the cluster" in local.stdout
        log = here.folder / "job.log"

        def wait(alive: Callable[[], bool]) -> None:
            wait_until(lambda: log.exists() and "waiting for it to end" in log.read_text(), "the wait", 0.1, alive)
            assert "rule shortlist" not in log.read_text()
            earlier.kill()

        remote = here.snakemake_beside(wait, *detached.options(here.folder), *MAKE_SHORTLIST, configs=[])
    assert remote.returncode == 0, remote.stdout
    assert "rule shortlist" in log.read_text()


def test_a_job_that_a_killed_run_has_left_in_the_queue_does_nothing(here: Tree) -> None:
    (here.folder / "hold").touch()
    scheduler = here.folder / "nmt/system/scheduler.py"
    scheduler.write_text(scheduler.read_text().replace("PATIENCE = 60", "PATIENCE = 0"))
    with here.start(*detached.options(here.folder), *MAKE_SHORTLIST, configs=[]) as killed:
        wait_until((here.folder / "submitted").exists, "the submission", 0.1, lambda: killed.poll() is None)
        time.sleep(1)
        killed.kill()
        killed.communicate()
    notes = {note: note.read_text() for note in (here.folder / ".snakemake/steps").iterdir()}
    later = here.snakemake("--cores", "1", *MAKE_SHORTLIST, configs=[])
    assert later.returncode == 0, later.stdout
    assert sum(note.read_text() != noted for note, noted in notes.items()) == 1  # what it does not make is left alone
    made = (here.folder / SHORTLIST).stat()
    (here.folder / "hold").unlink()
    wait_until((here.folder / "job.code").exists, "the end of the job", 0.1)
    assert (here.folder / "job.code").read_text() == "1\n"
    said = "snakemake: a later run makes the files of this job, which does nothing\n"
    assert (here.folder / "job.log").read_text().endswith(said)
    assert (here.folder / SHORTLIST).stat() == made


def test_paper_is_planned_whole(tree: Tree) -> None:
    plan = jobs(tree.snakemake("--dry-run", "all", configs=[]))
    assert {variant for rule, variant in plan if rule == "train"} == VARIANTS | {"RNNsearch-30", "RNNencdec-50"}
    rules = [rule for rule, _ in plan]
    counts = {"fetch": 8, "extract": 8, "tokenize": 48, "clean": 21, "score_pairs": 21, "train_lm": 1, "select": 1}
    counts |= {"shortlist": 2, "binarize": 1, "nll": 10}
    counts |= {"translate": 5, "translate_no_unk": 5, "evaluate": 5, "table1": 1, "table2": 1, "table3": 1}
    counts |= {"figure1": 1, "bleu_by_length": 1, "figure2": 1, "sample_alignments": 1, "figure3": 1, "index": 1}
    counts |= {"gather_metrics": 1, "learning_curves": 1}
    assert {rule: rules.count(rule) for rule in counts} == counts


def install_moses(folder: Path) -> None:
    """Put an empty file in place of each program and each script."""
    names = [
        *MOSES_PROGRAMS,
        "fast_align",
        *MOSES_ALIGNERS["fast_align"],
        *(f"../scripts/{name}" for name in MOSES_SCRIPTS),
    ]
    for path in (folder / name for name in names):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o755)


def test_a_named_moses_is_a_row_of_the_paper(tree: Tree) -> None:
    install_moses(tree.folder / "tools/moses/bin")
    (tree.folder / "moses.yaml").write_text(
        "phrase_based: {system: moses, bin: tools/moses/bin}\npaper: {figure2: {phrase_based: true}}\n"
    )
    run = tree.snakemake("--dry-run", configs=[PAPER, "moses.yaml"])
    plan = jobs(run)
    stages = ("moses_align", "moses_language_model", "moses_phrases", "moses_tune", "moses_translate")
    rules = [rule for rule, _ in plan]
    assert {stage: rules.count(stage) for stage in stages} == dict.fromkeys(stages, 1)
    assert ("evaluate", "phrase-based") in plan
    for stage in stages[-2:]:  # their configuration only names the language model
        [inputs] = re.findall(rf"^rule {stage}:\n    input: (.*)$", run.stdout, re.MULTILINE)
        assert "data/wmt14/phrase_based/moses_language_model/model.binary" in inputs.split(", ")
    counts = {"fetch": 8 + 7, "extract": 8, "extract_monolingual": 7, "tokenize": 48 + 7}
    assert {rule: rules.count(rule) for rule in counts} == counts
    assert set(re.findall(r"news-crawl-\d+\.(?:en|fr)\b", run.stdout)) == {
        f"news-crawl-{year}.fr" for year in range(2007, 2014)
    }


def test_moses_is_built_where_none_is_named(tree: Tree) -> None:
    run = tree.snakemake("--dry-run", "--config", "phrase_based={system: moses}", configs=[PAPER])
    assert {("moses_build", ""), ("moses_translate", ""), ("table1", "")} <= set(jobs(run))
    run = tree.snakemake("--dry-run", configs=["config/demo.yaml", "config/moses.yaml"])
    assert {("moses_build", ""), ("evaluate", "phrase-based")} <= set(jobs(run))
    assert not {rule for rule, _ in jobs(tree.snakemake("--dry-run", configs=[PAPER])) if "moses" in rule}


def test_missing_sources_of_moses_are_known_before_the_first_job(tree: Tree) -> None:
    words = ["--dry-run", "--config", "phrase_based={system: moses, sources: /nowhere}"]
    run = tree.snakemake(*words, configs=[PAPER])
    assert "snakemake: phrase_based.sources: /nowhere: no such folder; set " in run.stdout
    built = tree.folder / "data/tools/moses/built.json"
    built.parent.mkdir(parents=True)
    built.touch()
    assert "no such folder" not in tree.snakemake(*words, configs=[PAPER]).stdout
    shutil.rmtree(built.parent)


def test_a_moses_that_cannot_be_executed_is_known_before_the_first_job(tree: Tree) -> None:
    install_moses(tree.folder / "tools/moses/bin")
    program = tree.folder / "tools/moses/bin/fast_align"
    program.chmod(0o644)
    run = tree.snakemake("--dry-run", "--config", "phrase_based={system: moses, bin: tools/moses/bin}", configs=[PAPER])
    assert "phrase_based.bin: cannot be executed; run chmod +x tools/moses/bin/fast_align\n" in run.stdout
    program.chmod(0o755)


def test_without_a_compiler_one_line_says_so_before_the_first_job(tree: Tree) -> None:
    path = tree.folder / "path"
    path.mkdir()
    (path / "cmake").write_text("#!/bin/sh\necho Could NOT find Boost\nexit 1\n")
    (path / "cmake").chmod(0o755)
    run = tree.snakemake("--cores", "1", configs=["config/demo.yaml", "config/moses.yaml"], path=str(path))
    assert run.returncode == 1
    assert "snakemake: Moses cannot be built without Boost; install " in run.stdout
    assert "Traceback" not in run.stdout
    assert not (tree.folder / "data/demo").exists()


def test_a_moses_that_has_moved_reruns_nothing(done: Tree) -> None:
    programs = {"moses": "echo Moses", "fast_align": 'sed s/.*/0-0/ "$2"', "atools": 'cat "$2"'}
    overlay = "phrase_based: {{system: moses, bin: {}}}\n"
    links = "data/smoke/phrase_based/moses_align/links.txt"
    for folder in ("here", "there"):
        install_moses(done.folder / folder / "bin")
        for name, command in programs.items():
            program = done.folder / folder / "bin" / name
            program.write_text(f"#!/bin/sh\n{command}\n")
            program.chmod(0o755)
        (done.folder / f"{folder}.yaml").write_text(overlay.format(f"{folder}/bin"))
    run = done.snakemake(links, "--cores", "1", "--configfile", *SMOKE, "here.yaml", configs=[])
    assert run.returncode == 0, run.stdout
    words = [links, "--dry-run", "--configfile", *SMOKE, "there.yaml"]
    assert jobs(done.snakemake(*words, configs=[])) == []
    (done.folder / "version.yaml").write_text("phrase_based: {version: Moses}\n")  # what the program says of itself
    assert jobs(done.snakemake(*words, "version.yaml", configs=[])) == []
    (done.folder / "there/bin/fast_align").write_text("#!/bin/sh\n# another\n")
    assert jobs(done.snakemake(*words, configs=[])) == [("moses_align", "")]


def test_a_language_model_of_a_corpus_that_is_cut_has_all_its_shards(tree: Tree) -> None:
    (tree.folder / "monolingual.yaml").write_text("phrase_based: {system: thot, monolingual: [un]}\n")
    run = tree.snakemake("--dry-run", configs=[PAPER, "monolingual.yaml"])
    assert ("thot_language_model", "") in jobs(run)
    [inputs] = re.findall(r"^rule thot_language_model:\n    input: (.*)$", run.stdout, re.MULTILINE)
    parts = [f"data/wmt14/tokenized/un.{number}-of-6.fr" for number in range(1, 7)]
    assert inputs.split(", ")[: 1 + len(parts)] == ["data/wmt14/selected/train.fr", *parts]


def test_another_stack_tunes_and_decodes_again(done: Tree) -> None:
    rules = {rule for rule, _ in done.plan("phrase_based: {stack: 3}")}
    tables = {"table1", "significance", "sheet_table1", "sheet_significance", "bleu_by_length", "figure2", "index"}
    assert rules == {"thot_tune", "thot_translate", "evaluate", *tables}


def test_nothing_to_compare_asks_for_no_significance(tree: Tree) -> None:
    overlay = "prototypes: {RNNencdec: {attention: additive}}\n"
    (tree.folder / "attention.yaml").write_text(overlay)
    rules = {rule for rule, _ in jobs(tree.snakemake("--dry-run", configs=[PAPER, "attention.yaml"]))}
    assert {"table1", "sheet_table1", "index"} <= rules
    assert not {"significance", "sheet_significance"} & rules


def test_open_text_needs_one_setting(tree: Tree) -> None:
    (tree.folder / "corpora").mkdir(exist_ok=True)
    plan = jobs(tree.snakemake("--dry-run", "--config", "mirror=corpora", configs=["config/open.yaml"]))
    rules = [rule for rule, _ in plan]
    assert (rules.count("train"), rules.count("table1"), rules.count("generate")) == (5, 2, 0)


def test_without_network_one_line_names_address_and_mirror(tree: Tree) -> None:
    words = ["--cores", "8", "all", "--config", "mirror=http://127.0.0.1:9"]
    run = tree.snakemake(*words, configs=[])
    assert run.returncode == 1
    # As it happens and, the same, in the failed job's log.
    said = {line.strip() for line in run.stdout.split("\n") if "nmt fetch:" in line}
    assert len(said) == 1, run.stdout
    assert "127.0.0.1:9" in next(iter(said))
    assert "`mirror`" in next(iter(said))
    assert "Traceback" not in run.stdout


@pytest.mark.parametrize(
    ("overlay", "expected"),
    [
        ("beem: 3", "config: unknown setting beem"),
        ("translate: {beem: 3}", "config: translate: unknown setting beem; the nearest is beam"),
        ("paper: {figure3: {model: RNNsearch-5}}", "unknown variant RNNsearch-5; the nearest is RNNsearch-50"),
        ("variants: {RNN-9: {prototype: RNNserch}}", "unknown prototype RNNserch; the nearest is RNNsearch"),
        ("corpora: {test: [newstest2041]}", "unknown corpus"),
        ("registry: data/none.tsv", "data/none.tsv"),
        ("phrase_based: {system: moses, pairs: 0, bin: nowhere}", "bin: no program moses, lmplz, build_binary, "),
        ("defaults: {epsilon: 1e-8}", "write 1.0e-8"),
        ("seed: 2\nseed: 3", "mistake.yaml: seed is set twice, in lines 1 and 2; remove one"),
        ("seed: 010", "mistake.yaml: line 1: YAML reads 010 as 8; write 8"),
    ],
)
def test_a_mistake_in_the_configuration_is_one_line(tree: Tree, overlay: str, expected: str) -> None:
    (tree.folder / "mistake.yaml").write_text(overlay)
    run = tree.snakemake("--dry-run", configs=["config/demo.yaml", "mistake.yaml"])
    lines = [line for line in run.stdout.split("\n") if line and not line.startswith(("Using ", "Config file "))]
    assert run.returncode == 1
    assert len(lines) == 1, run.stdout
    assert expected in lines[0]


def test_the_users_own_files_are_no_results(tree: Tree) -> None:
    own = tree.folder / "thesis/table1.csv"
    own.parent.mkdir()
    own.write_text("mine\n")
    run = tree.snakemake("--delete-all-output", "--config", "results=thesis", configs=["config/demo.yaml"])
    assert run.returncode == 1
    assert "snakemake: config: results: thesis/table1.csv is there already, and nothing in data/demo says" in run.stdout
    assert own.read_text() == "mine\n"


def test_a_folder_without_room_is_one_line(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """/proc takes no file of anybody, as a full or read-only folder does not."""
    monkeypatch.setenv("TMPDIR", "/proc")
    with tree.start("--dry-run", configs=[PAPER]) as process:
        said, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "snakemake: /proc: cannot be written (No such file or directory); make it writable, with room" in said
    assert "Traceback" not in said


def test_a_folder_that_a_step_cannot_write_is_one_line_before_the_first_job(here: Tree) -> None:
    shortlists = here.folder / "data/smoke/shortlist"
    shutil.rmtree(shortlists)
    shortlists.symlink_to("/proc")
    run = here.snakemake("--cores", "1", "--forcerun", "shortlist", configs=SMOKE)
    assert run.returncode == 1
    assert run.stdout.split("\n")[-2].startswith("snakemake: /proc: cannot be written (No such file or directory)")
    assert "rule shortlist" not in run.stdout
    assert "Traceback" not in run.stdout


@pytest.mark.long
def test_every_table_and_figure_of_models_with_two_seeds_is_made(tmp_path: Path) -> None:
    """Plans do not show what a step refuses."""
    tree = Tree(tmp_path)
    (tmp_path / "seeds.yaml").write_text("seeds: 2\nphrase_based: null\n")
    run = tree.snakemake("--cores", "2", "--resources", "gpu=2", "network=1", configs=[*SMOKE, "seeds.yaml"])
    assert run.returncode == 0, run.stdout[-8000:]
    with (tmp_path / "results/smoke/table2.csv").open() as file:
        made = [row["model"] for row in csv.DictReader(file)]
    assert made[:2] == ["RNNencdec-30", "RNNencdec-30, seed 1235"]
