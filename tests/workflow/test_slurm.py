"""The smoke experiment on a real Slurm of one node, through profiles/slurm, with what happens on clusters on the way.

In one run the node is drained and resumed while jobs wait for it, and a training is cancelled, and then put off the node by
a more urgent job. What is asserted comes from Slurm's own records, the training's log and the results.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.workflow.cluster import Cluster, Record, missing
from tests.workflow.test_workflow import SMOKE, VARIANTS, Tree

PATIENCE = 300.0
VARIANT = "RNNsearch-50"  # which is interrupted twice
OVERLAY = f"variants: {{{VARIANT}: {{updates: 1500, checkpoint_every: 10, evaluate_every: 500}}}}\n"
# Slurm is asked for the states of jobs every so many seconds; without an accounting database it is squeue that knows them.
OPTIONS = ["--slurm-no-account", "--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "7"]
OPTIONS += ["--latency-wait", "5"]
ON_GPU = {"train", "nll", "translate", "translate_no_unk"}
DAY = "-00:00:00"

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"Slurm is not installed here: no {', '.join(missing())}")


@dataclass
class Run:
    """What came of it: Slurm's records, what Snakemake said, and what was seen on the way."""

    tree: Tree
    records: list[Record] = field(default_factory=list)
    code: int | None = None
    said: str = ""
    waiting: list[str] = field(default_factory=list)  # jobs that Slurm started as soon as the drained node was resumed
    cancelled: str = ""
    resumed: list[int] = field(default_factory=list)  # the updates from which the interrupted training went on


def rule_of(record: Record) -> str:
    """The rule of a job, or the group of a job of several rules."""
    return re.sub(r"^(rule|group)_|_wildcards_.*$", "", record["Comment"])


def gpus(record: Record) -> str:
    return record.get("JOB_GRES", "")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    tree = Tree(tmp_path_factory.mktemp("tree"))
    (tree.folder / "long.yaml").write_text(OVERLAY)
    name_partitions(tree.folder / "profiles/slurm/profile.yaml")
    with Cluster(tmp_path_factory.mktemp("slurm")) as cluster, pytest.MonkeyPatch.context() as patch:
        for name, value in cluster.environment.items():
            patch.setenv(name, value)
        words = ["--workflow-profile", "slurm", *OPTIONS]
        path = str(cluster.programs)
        with tree.start(*words, configs=[*SMOKE, "long.yaml"], path=path) as process, ThreadPoolExecutor() as pool:
            said = pool.submit(process.communicate)
            try:
                run = Run(tree)
                interrupt(run, cluster, lambda: process.poll() is None)
                process.wait(timeout=PATIENCE)
            finally:
                process.terminate()
                run.said, _ = said.result()
            run.code, run.records = process.returncode, cluster.jobs()
        yield run


def name_partitions(profile: Path) -> None:
    """Do what the profile asks of its users: take the marks of comments off the partitions' lines."""
    text = profile.read_text()
    marked = re.compile(r"^# (?=default-resources:|set-resources:|  slurm_partition|  \w+: \{slurm_partition)", re.MULTILINE)
    text, count = marked.subn("", text)
    assert count == 3 + len(ON_GPU)
    profile.write_text(text)


def interrupt(run: Run, cluster: Cluster, alive: Callable[[], bool]) -> None:
    """Drain the node for a while, cancel a training, and have its second attempt give way to an urgent job."""

    def until(done: Callable[[], object], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not done():
            assert alive(), f"Snakemake has ended before {what}"
            assert time.monotonic() < end, f"too long until {what}"
            time.sleep(0.2)

    def ids(rule: str, state: str) -> list[str]:
        return [one["JobId"] for one in cluster.jobs() if rule_of(one) == rule and one["JobState"] == state]

    def training(state: str) -> list[Record]:
        jobs = [one for one in cluster.jobs() if one["Comment"] == f"rule_train_wildcards_{VARIANT}"]
        return [one for one in jobs if one["JobState"] == state]

    log = run.tree.folder / f"logs/train/smoke/{VARIANT}.log"
    goes_on = re.compile(rf"{VARIANT}: goes on from the checkpoint of update ([\d,]+)")

    def resumed() -> int:
        """The update from which the training in the log goes on, 0 where it has begun afresh."""
        found = goes_on.search(log.read_text()) if log.exists() else None
        return int(found[1].replace(",", "")) if found else 0

    until(lambda: ids("extract", "RUNNING"), "the first job runs")
    cluster.ask("scontrol", "update", f"NodeName={cluster.host}", "State=DRAIN", "Reason=test")
    until(lambda: cluster.state() == "drained", "the node is drained")
    until(lambda: any(one["JobState"] == "PENDING" for one in cluster.jobs()), "a job waits for the node")
    run.waiting = [one["JobId"] for one in cluster.jobs() if one["JobState"] == "PENDING"]
    cluster.ask("scontrol", "update", f"NodeName={cluster.host}", "State=RESUME")

    checkpoint = run.tree.folder / f"data/smoke/checkpoints/{VARIANT}/latest.pt"
    until(checkpoint.exists, "the training has a checkpoint")
    run.cancelled = training("RUNNING")[0]["JobId"]
    cluster.ask("scancel", run.cancelled)
    until(lambda: resumed() > 0, "the cancelled training goes on")
    run.resumed.append(resumed())

    written = checkpoint.stat().st_mtime_ns
    until(lambda: checkpoint.stat().st_mtime_ns != written, "it has another checkpoint")
    cluster.ask("sbatch", "--partition=urgent", "--gpus=2", "--comment=rule_urgent", "--output=/dev/null", "--wrap=true")
    until(lambda: resumed() > run.resumed[0], "the training that gave way goes on")
    run.resumed.append(resumed())


def test_the_experiment_comes_to_its_last_figure(run: Run) -> None:
    assert run.code == 0, run.said[-8000:]
    results = run.tree.folder / "results/smoke"
    for name in ("table1.csv", "table2.csv", "table3.csv", "coverage.csv", "figure2.pdf", "figure3.pdf"):
        assert (results / name).stat().st_size > 0
    assert {path.name for path in (run.tree.folder / "data/smoke/models").iterdir()} == VARIANTS


def test_every_job_has_what_its_rule_asks_for(run: Run) -> None:
    for record in run.records:
        rule, memory = rule_of(record), re.search(r"mem=(\d+)M", record["TRES"])
        if rule == "urgent":
            continue
        assert gpus(record) == ("gpu:1" if rule in ON_GPU else ""), record
        assert record["Partition"] == ("gpu" if rule in ON_GPU else "cpu")
        assert record["TimeLimit"] != "UNLIMITED"
        assert record["Requeue"] == "1"
        assert memory is not None, record
    trained = [one for one in run.records if rule_of(one) == "train" and "Restarts=0"]
    asked = {(one["Comment"], one["TRES"].split(",")[1], one["TimeLimit"], one["NumCPUs"]) for one in trained}
    expected = {(f"rule_train_wildcards_{variant}", "mem=16000M", f"2{DAY}", "1") for variant in VARIANTS}
    assert asked == expected | {(f"rule_train_wildcards_{VARIANT}", "mem=32000M", f"4{DAY}", "1")}


def test_jobs_of_seconds_are_no_jobs_of_slurms(run: Run) -> None:
    counts = Counter(map(rule_of, run.records))
    single = ["train", "nll", "translate", "translate_no_unk", "estimate", "urgent"]
    assert set(counts) == {"extract", "tokenize", "survey", "rate", "encode", *single}
    assert [counts[group] for group in ("extract", "tokenize", "survey", "rate", "encode")] == [2, 2, 1, 1, 1]


def test_a_cancelled_training_is_submitted_again_and_goes_on(run: Run) -> None:
    jobs = [one for one in run.records if one["Comment"] == f"rule_train_wildcards_{VARIANT}"]
    assert [(one["JobId"] == run.cancelled, one["JobState"]) for one in jobs] == [(True, "CANCELLED"), (False, "COMPLETED")]
    assert 0 < run.resumed[0] < 1500


def test_a_training_that_gives_way_to_another_job_is_requeued_and_goes_on(run: Run) -> None:
    job = run.records[-1]
    for one in run.records:
        if one["Comment"] == f"rule_train_wildcards_{VARIANT}":
            job = one
    assert int(job["Restarts"]) == 1
    assert run.resumed[0] < run.resumed[1] < 1500
    lines = (run.tree.folder / f"data/smoke/models/{VARIANT}/metrics.jsonl").read_text().split("\n")[:-1]
    updates = [int(number) for number in re.findall(r'"updates": (\d+), "seconds": [\d.]+, "train_nll"', "\n".join(lines))]
    assert updates == list(range(50, 1501, 50))


def test_a_drained_node_loses_nothing(run: Run) -> None:
    states = {one["JobId"]: (one["JobState"], one["Restarts"]) for one in run.records}
    assert run.waiting
    assert {states[job] for job in run.waiting} == {("COMPLETED", "0")}
    ended = {job for job, (state, _) in states.items() if state != "COMPLETED"}
    assert ended == {run.cancelled}
