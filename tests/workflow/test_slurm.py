"""The smoke experiment on a real Slurm of one node, through profiles/slurm, with what happens on clusters on the way.

In one run the node is drained and resumed while jobs wait for it, and a training is cancelled, and then gives way to a
more urgent job. What is asserted comes from Slurm's own records, the training's log and the results.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.waiting import wait_until
from tests.workflow.cluster import Cluster, Record, missing
from tests.workflow.tree import SMOKE, Tree

VARIANT = "RNNsearch-50"  # whose training is interrupted
TRAINING = f"rule_train_wildcards_{VARIANT}"  # how the executor calls its job
UPDATES = 1500
VARIANTS = {"RNNencdec-30", "RNNsearch-50"}  # of the smoke experiment; the other is left out
OVERLAY = f"""\
bpe: {{symbols: 200}}
corpora: {{train: [toy-parliament, toy-manuals], in_domain: [toy-dev-1], development: [toy-dev-1]}}
variants:
  {VARIANT}: {{updates: {UPDATES}, checkpoint_every: 10, evaluate_every: 500}}
  RNNsearch-50star: null
paper: {{figure2: {{leave_out: []}}, figure1: null, figure3: null, table3: null}}
"""
# As docs/clusters.md says for a cluster without accounting, and with status checks every 8 seconds instead of 40.
OPTIONS = ["--slurm-no-account", "--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "8"]
GROUPS = ("extract", "tokenize", "clean", "score_pairs", "encode", "phrases")  # of the profile
ON_GPU = {"train", "nll", "translate", "translate_no_unk"}

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"Slurm is not installed here: no {', '.join(missing())}")


@dataclass
class Run:
    """What came of it: Slurm's records, what Snakemake said, and what was seen on the way."""

    tree: Tree
    records: list[Record] = field(default_factory=list)
    code: int | None = None
    said: str = ""
    waiting: list[str] = field(default_factory=list)  # jobs that waited while the node was drained
    cancelled: str = ""  # the job of the first attempt at the training
    resumed: list[int] = field(default_factory=list)  # the updates from which the interrupted training went on

    def of(self, comment: str) -> list[Record]:
        """The records of jobs with this comment, by which the executor says what a job is."""
        return [record for record in self.records if record["Comment"] == comment]


def rule_of(record: Record) -> str:
    """The rule of a job, or the group where it is of several."""
    name = record["Comment"].removeprefix("rule_").split("_wildcards_")[0]
    return next((group for group in GROUPS if name.startswith(f"{group}_")), name)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    tree = Tree(tmp_path_factory.mktemp("tree"))
    (tree.folder / "long.yaml").write_text(OVERLAY)
    name_partitions(tree.folder / "profiles/slurm/profile.yaml")
    with Cluster(tmp_path_factory.mktemp("slurm")) as cluster, pytest.MonkeyPatch.context() as patch:
        for name, value in cluster.environment.items():
            patch.setenv(name, value)
        words, path = ["--workflow-profile", "slurm", *OPTIONS], str(cluster.programs)
        run = Run(tree)
        ended = tree.snakemake_beside(
            lambda alive: interrupt(run, cluster, alive), *words, configs=[*SMOKE, "long.yaml"], path=path
        )
        run.code, run.said, run.records = ended.returncode, ended.stdout, cluster.jobs()
    return run


def name_partitions(profile: Path) -> None:
    """Do what the profile asks of its users: take the marks of comments off the partitions' lines."""
    text = profile.read_text()
    lines = r"^# (?=default-resources:|set-resources:|  slurm_partition|  \w+: \{slurm_partition)"
    text, count = re.subn(lines, "", text, flags=re.MULTILINE)
    assert count == 3 + len(ON_GPU) + 2  # the second paper's
    profile.write_text(text)


def interrupt(run: Run, cluster: Cluster, alive: Callable[[], bool]) -> None:
    """Drain the node for a while, cancel a training, and have its second attempt give way to an urgent job."""

    def until(done: Callable[[], object], what: str) -> None:
        wait_until(done, what, 0.2, alive)

    def jobs(state: str, rule: str) -> list[str]:
        """The ids of the jobs in this state with a comment that begins so."""
        found = [job for job in cluster.jobs() if job["JobState"] == state and job["Comment"].startswith(rule)]
        return [job["JobId"] for job in found]

    def resumed() -> int:
        """The update from which the training in the log goes on, 0 where it has begun afresh."""
        log = run.tree.folder / f"logs/train/smoke/{VARIANT}.log"
        found = re.search(r": resumes from the checkpoint of update ([\d,]+)", log.read_text() if log.exists() else "")
        return int(found[1].replace(",", "")) if found else 0

    def set_node(*words: str) -> None:
        cluster.ask("scontrol", "update", f"NodeName={cluster.host}", *words)

    until(lambda: jobs("RUNNING", "rule_extract"), "the first job runs")
    set_node("State=DRAIN", "Reason=test")
    until(lambda: cluster.state() == "drained", "the node is drained")
    until(lambda: jobs("PENDING", "rule_"), "a job waits for the node")
    run.waiting = jobs("PENDING", "rule_")
    set_node("State=RESUME")

    checkpoints = run.tree.folder / f"data/smoke/checkpoints/{VARIANT}"
    until((checkpoints / "latest.pt").exists, "the training has a checkpoint")
    (run.cancelled,) = jobs("RUNNING", TRAINING)
    cluster.ask("scancel", run.cancelled)
    until(resumed, "the cancelled training goes on")
    run.resumed.append(resumed())

    before = (checkpoints / "previous.pt").read_bytes()
    until(lambda: (checkpoints / "previous.pt").read_bytes() != before, "it has another checkpoint")
    cluster.ask("sbatch", "--partition=urgent", "--gpus=2", "--comment=urgent", "--output=/dev/null", "--wrap=true")
    until(lambda: resumed() > run.resumed[0], "the training that gave way goes on")
    run.resumed.append(resumed())


def test_the_experiment_comes_to_its_last_figure(run: Run) -> None:
    assert run.code == 0, run.said[-8000:]
    results = run.tree.folder / "results/smoke"
    for name in ("table1.csv", "table2.csv", "coverage.csv", "figure2.pdf", "index.html", "provenance.json"):
        assert (results / name).stat().st_size > 0
    assert {path.name for path in (run.tree.folder / "data/smoke/models").iterdir()} == VARIANTS


def test_every_job_has_what_its_rule_asks_for(run: Run) -> None:
    for record in run.records:
        rule, memory = rule_of(record), re.search(r"mem=(\d+)M", record["TRES"])
        if rule == "urgent":
            continue
        assert record["JOB_GRES"] == ("gpu:1" if rule in ON_GPU else "(null)"), record
        assert record["Partition"] == ("gpu" if rule in ON_GPU else "cpu")
        assert record["TimeLimit"] != "UNLIMITED"
        assert record["Requeue"] == "1"
        assert memory is not None, record
    trained = [one for one in run.records if rule_of(one) == "train"]
    asked = {(one["Comment"], one["TRES"].split(",")[1], one["TimeLimit"]) for one in trained}
    expected = {(f"rule_train_wildcards_{variant}", "mem=16000M", "2-00:00:00") for variant in VARIANTS}
    assert asked == expected | {(f"rule_train_wildcards_{VARIANT}", "mem=32000M", "4-00:00:00")}


def test_jobs_of_seconds_are_no_jobs_of_slurms(run: Run) -> None:
    counts = Counter(map(rule_of, run.records))
    assert set(counts) == {*GROUPS, *ON_GPU, "train_lm", "thot_word_align", "thot_tune", "thot_translate", "urgent"}
    assert {counts[group] for group in GROUPS} == {1}


def test_a_cancelled_training_is_submitted_again_and_goes_on(run: Run) -> None:
    first, second = run.of(TRAINING)
    assert (first["JobId"], first["JobState"], second["JobState"]) == (run.cancelled, "CANCELLED", "COMPLETED")
    assert 0 < run.resumed[0] < UPDATES


def test_a_training_that_gives_way_to_another_job_is_requeued_and_goes_on(run: Run) -> None:
    assert [one["Restarts"] for one in run.of(TRAINING)] == ["0", "1"]
    assert run.resumed[0] < run.resumed[1] < UPDATES
    lines = (run.tree.folder / f"data/smoke/models/{VARIANT}/metrics.jsonl").read_text().split("\n")[:-1]
    updates = [record["updates"] for record in map(json.loads, lines) if "train_nll" in record]
    assert updates == list(range(50, UPDATES + 1, 50))


def test_a_drained_node_loses_nothing(run: Run) -> None:
    states = {one["JobId"]: (one["JobState"], one["Restarts"]) for one in run.records}
    assert run.waiting
    assert {states[job] for job in run.waiting} == {("COMPLETED", "0")}
    ended = {job for job, (state, _) in states.items() if state != "COMPLETED"}
    assert ended == {run.cancelled}
