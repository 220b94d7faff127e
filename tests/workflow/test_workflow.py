"""The whole DAG at smoke size, and what a dry run says after each kind of change.

All of it happens in a copy of the tree; the checkout is only read.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMOKE = ["config/demo.yaml", "tests/workflow/smoke.yaml"]
VARIANTS = {"RNNencdec-30", "RNNsearch-30", "RNNencdec-50", "RNNsearch-50", "RNNsearch-50star"}
Job = tuple[str, str]  # a rule and the variant it is for, "" for none


class Tree:
    """A copy of the project in which Snakemake can be run and files can be edited."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in ("Snakefile", "environment.yml", "config", "nmt", "profiles", "workflow"):
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
            copy(ROOT / part, folder / part)
        for part in ("data", "tests/workflow"):
            (folder / part).mkdir(parents=True)
        for registry in (ROOT / "data").glob("*.tsv"):
            shutil.copy2(registry, folder / "data")
        shutil.copy2(ROOT / "tests/workflow/smoke.yaml", folder / "tests/workflow")
        if (ROOT / "data/tools/lmplz").exists():
            shutil.copytree(ROOT / "data/tools", folder / "data/tools", symlinks=True)

    def start(self, *words: str, configs: list[str], path: str = "") -> subprocess.Popen[str]:
        """Start Snakemake in the copy, in a process group of its own; standard error goes to standard output."""
        environment = os.environ | {
            "PATH": os.pathsep.join([path, str(Path(sys.executable).parent), os.environ["PATH"]])
        }
        options = ["--configfile", *configs, "--"] if configs else []
        command = [sys.executable, "-m", "snakemake", *words, *options]
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def snakemake(self, *words: str, configs: list[str], path: str = "") -> subprocess.CompletedProcess[str]:
        """Run Snakemake in the copy to its end."""
        with self.start(*words, configs=configs, path=path) as process:
            try:
                said, _ = process.communicate(timeout=400)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, said)

    def plan(self, *overlays: str, options: tuple[str, ...] = (), path: str = "") -> list[Job]:
        """The jobs that a dry run of the smoke experiment under further `overlays` lists."""
        configs = list(SMOKE)
        for number, overlay in enumerate(overlays):
            configs.append(f"overlay{number}.yaml")
            (self.folder / configs[-1]).write_text(overlay)
        return jobs(self.snakemake("--dry-run", *options, configs=configs, path=path))

    @contextmanager
    def edited(self, name: str, old: str, new: str) -> Iterator[None]:
        """`name` with `old` replaced, as long as the context lasts."""
        file = self.folder / name
        before = file.read_text()
        assert old in before
        file.write_text(before.replace(old, new))
        try:
            yield
        finally:
            file.write_text(before)


def jobs(dry_run: subprocess.CompletedProcess[str]) -> list[Job]:
    """The jobs in the output of a dry run, `all` left out."""
    assert dry_run.returncode == 0, dry_run.stdout
    found = []
    for block in re.split(r"\n(?=\[|(?:local)?rule )", dry_run.stdout):
        rule = re.search(r"^(?:local)?rule (\w+):", block, re.MULTILINE)
        variant = re.search(r"wildcards:.*\bvariant=([^,\n]+)", block)
        if rule is not None and rule[1] != "all":
            found.append((rule[1], variant[1] if variant else ""))
    if not found:
        assert "Nothing to be done" in dry_run.stdout
    return found


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return Tree(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def done(tree: Tree) -> Tree:
    """The tree in which the whole smoke experiment has been run."""
    words = ["--cores", "2", "--resources", "gpu=2", "network=1"]
    run = tree.snakemake(*words, configs=SMOKE)
    assert run.returncode == 0, run.stdout[-8000:]
    return tree


def test_whole_experiment_is_made(done: Tree) -> None:
    results = done.folder / "results/smoke"
    tables = ["selection.csv", "coverage.csv", "table1.csv", "table1.md", "table1.tex", "table2.csv", "table3.md"]
    tables += ["significance.csv", "significance.md"]
    figures = ["ratings", "figure1", "figure2", "figure3"]
    figures = [f"{figure}.{ending}" for figure in figures for ending in ("pdf", "svg", "png")]
    for name in [*tables, *figures]:
        assert (results / name).stat().st_size > 0
    labels = [line.split(",")[0] for line in (results / "table1.csv").read_text().split("\n")]
    assert labels[1:6] == ["RNNencdec-30", "RNNsearch-30", "RNNencdec-50", "RNNsearch-50", "RNNsearch-50*"]
    assert labels[6:8] == ["Phrase-based (Thot)", "Moses"]
    assert {path.name for path in (done.folder / "data/smoke/models").iterdir()} == VARIANTS


def test_nothing_is_done_twice(done: Tree) -> None:
    assert done.plan() == []


def test_report_is_written(done: Tree) -> None:
    run = done.snakemake("--report", "results/smoke/report.html", configs=SMOKE)
    assert run.returncode == 0, run.stdout
    assert (done.folder / "results/smoke/report.html").stat().st_size > 100_000


def test_what_is_learned_is_not_touched_by_places_and_habits(done: Tree) -> None:
    overlay = "threads: {train: 2}\ntranslate: {batch: 5}\n"
    overlay += "defaults: {checkpoint_minutes: 3, checkpoint_every: 7, device: cpu}\n"
    assert done.plan(overlay) == []


def test_beam_reruns_the_search_and_what_follows(done: Tree) -> None:
    rules = {rule for rule, _ in done.plan("translate: {beam: 3}")}
    follows = {"evaluate", "table1", "significance", "table3", "lengths", "figure2", "samples", "figure3"}
    assert rules == {"translate", "translate_no_unk"} | follows


def test_another_cut_rates_nothing_again(done: Tree) -> None:
    for overlay in ("select: {words: 1000}", "select: {rule: random}", "select: {rule: shares, shares: {un: 0.5}}"):
        rules = {rule for rule, _ in done.plan(overlay)}
        assert {"select", "selection", "ratings", "shortlist", "coverage", "binarize", "train"} <= rules
        assert not {"fetch", "extract", "tokenize", "survey", "estimate", "rate"} & rules


def test_a_sixth_variant_adds_its_own_jobs(done: Tree) -> None:
    plan = done.plan("variants: {RNNsearch-20: {prototype: RNNsearch, maximum_length: 20, updates: 10}}")
    own = ["train", "nll", "nll", "translate", "translate_no_unk", "evaluate"]
    shared = ["table1", "significance", "table2", "lengths", "figure2"]
    assert sorted(plan) == sorted([(rule, "RNNsearch-20") for rule in own] + [(rule, "") for rule in shared])


def test_a_setting_of_one_variant_trains_it_again_and_what_continues_it(done: Tree) -> None:
    plan = done.plan("variants: {RNNsearch-50: {updates: 31}}")
    assert {variant for rule, variant in plan if rule == "train"} == {"RNNsearch-50", "RNNsearch-50star"}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("nmt/model/attention.py", "\nclass ", "\n# A remark.\nclass "),
        ("environment.yml", "name: nmt", "# A remark.\nname: nmt"),
        ("config/demo.yaml", "experiment: demo", "# A remark.\nexperiment: demo"),
        ("workflow/rules/training.smk", "python -m nmt train --settings", "python  -m nmt train  --settings"),
        ("workflow/rules/training.smk", "rule train:", "# A remark.\nrule train:"),
    ],
)
def test_remarks_and_white_space_rerun_nothing(done: Tree, name: str, old: str, new: str) -> None:
    with done.edited(name, old, new):
        assert done.plan() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_training_that_is_stopped_says_so_and_can_go_on(done: Tree, number: signal.Signals) -> None:
    """As Ctrl-C in a terminal and the end of a cluster's job do it: all processes get the signal, tee included."""
    name = f"RNNsearch-{number.name}"
    overlay = f"variants: {{{name}: {{prototype: RNNsearch, updates: 100000}}}}\n"
    (done.folder / "stopped.yaml").write_text(overlay)
    folder, model = (done.folder / f"data/smoke/{kind}/{name}" for kind in ("checkpoints", "models"))
    target = f"data/smoke/models/{name}/model.safetensors"
    metrics = folder / "metrics.jsonl"
    with done.start(target, "--cores", "1", "--configfile", *SMOKE, "stopped.yaml", configs=[]) as process:
        try:
            end = time.monotonic() + 120
            while not metrics.exists() or not metrics.stat().st_size:
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.1)
            os.killpg(process.pid, number)
            said, _ = process.communicate(timeout=120)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert process.returncode == 1
    line = f"nmt train: stopped; data/smoke/checkpoints/{name}/latest.pt is written, the same command goes on from it"
    assert line in said
    assert line in (done.folder / f"logs/train/smoke/{name}.log").read_text()
    assert (folder / "latest.pt").exists()
    assert not model.exists() or not any(model.iterdir())


def test_an_edit_of_attention_trains_the_models_that_have_it(done: Tree) -> None:
    with done.edited("nmt/model/attention.py", "\nclass ", "\nREMARK = 1\n\n\nclass "):
        plan = done.plan()
    trained = {variant for rule, variant in plan if rule == "train"}
    assert trained == {"RNNsearch-30", "RNNsearch-50", "RNNsearch-50star"}
    assert not {rule for rule, _ in plan} & {"mirror", "fetch", "extract", "tokenize", "select", "binarize"}
    assert {variant for rule, variant in plan if rule == "translate"} == trained


def test_an_edit_of_a_table_reruns_that_table(done: Tree) -> None:
    with done.edited("nmt/evaluation/table2.py", "def run", "REMARK = 1\n\n\ndef run"):
        assert done.plan() == [("table2", "")]


def test_conda_flag_reruns_nothing(done: Tree) -> None:
    folder = done.folder / "stand-in"
    folder.mkdir()
    conda = folder / "conda"
    conda.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        '  *info*) echo \'{"conda_prefix": "/conda", "platform": "linux-64"}\' ;;\n'
        '  *channel_priority*) echo \'{"get": {"channel_priority": "strict"}}\' ;;\n'
        "  *) echo 'conda 25.1.0' ;;\n"
        "esac\n"
    )
    conda.chmod(0o755)
    assert done.plan(options=("--use-conda",), path=str(folder)) == []


def test_paper_is_planned_whole(tree: Tree) -> None:
    plan = jobs(tree.snakemake("--dry-run", "all", configs=[]))
    assert {variant for rule, variant in plan if rule == "train"} == VARIANTS
    rules = [rule for rule, _ in plan]
    counts = {"fetch": 8, "extract": 8, "tokenize": 48, "survey": 21, "rate": 21, "estimate": 1, "select": 1}
    counts |= {"shortlist": 2, "binarize": 1, "nll": 10}
    counts |= {"translate": 5, "translate_no_unk": 5, "evaluate": 5, "table1": 1, "table2": 1, "table3": 1}
    counts |= {"figure1": 1, "lengths": 1, "figure2": 1, "samples": 1, "figure3": 1}
    assert {rule: rules.count(rule) for rule in counts} == counts


def test_a_named_moses_is_a_row_of_the_paper(tree: Tree) -> None:
    (tree.folder / "moses.yaml").write_text("moses: {bin: tools/moses/bin}\nfigure2: {phrase_based: true}\n")
    plan = jobs(tree.snakemake("--dry-run", "all", configs=["moses.yaml"]))
    stages = ("moses_align", "moses_language_model", "moses_phrases", "moses_tune", "moses_decode")
    rules = [rule for rule, _ in plan]
    assert {stage: rules.count(stage) for stage in stages} == dict.fromkeys(stages, 1)
    assert ("evaluate", "phrase-based") in plan


def test_another_stack_tunes_and_decodes_again(done: Tree) -> None:
    rules = {rule for rule, _ in done.plan("phrase_based: {stack: 3}")}
    assert rules == {"mert", "decode", "evaluate", "table1", "significance", "lengths", "figure2"}


def test_open_text_needs_one_setting(tree: Tree) -> None:
    plan = jobs(tree.snakemake("--dry-run", "--config", "mirror=corpora", configs=["config/open.yaml"]))
    rules = [rule for rule, _ in plan]
    assert (rules.count("train"), rules.count("table1"), rules.count("mirror")) == (5, 2, 0)


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
        ("figure3: {model: RNNsearch-5}", "unknown variant RNNsearch-5; the nearest is RNNsearch-50"),
        ("variants: {RNN-9: {prototype: RNNserch}}", "unknown prototype RNNserch; the nearest is RNNsearch"),
        ("corpora: {test: [newstest2041]}", "unknown corpus"),
        ("registry: data/none.tsv", "data/none.tsv"),
        ("defaults: {epsilon: 1e-8}", "write 1.0e-8"),
    ],
)
def test_a_mistake_in_the_configuration_is_one_line(tree: Tree, overlay: str, expected: str) -> None:
    (tree.folder / "mistake.yaml").write_text(overlay)
    run = tree.snakemake("--dry-run", configs=["config/demo.yaml", "mistake.yaml"])
    lines = [line for line in run.stdout.split("\n") if line and not line.startswith(("Using ", "Config file "))]
    assert run.returncode == 1
    assert len(lines) == 1, run.stdout
    assert expected in lines[0]
