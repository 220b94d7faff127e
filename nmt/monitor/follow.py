"""Show a run of Snakemake, event by event: one line for each stage, and a bar for each training.

`snakemake --logger nmt` prints it. If a job fails, the end of its log is shown.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Never

from tqdm import tqdm

from nmt.monitor.counts import last_update, updates_before
from nmt.monitor.forecast import measured, span, training_seconds
from nmt.settings.experiment import Experiment
from nmt.system.errors import printable
from nmt.training.metrics import METRICS, folders, latest, read_metrics

PACKAGE = Path(__file__).parents[1]
# A rule belongs to the stage of the `nmt` package that has a module with the rule's name.
STAGES = {
    "toy": "text",
    "corpora": "text",
    "phrase_based": "phrase-based system",
    "training": "training",
    "search": "translation",
}
LAST_STAGE = "tables and figures"
FAILED_LINES = 10  # of the log of a job that fails


class Task:
    """A stage or a training under way: what it is called, its bar, which only a terminal shows, and its jobs.

    Of the `total`, `done` were done before. Its time counts only while one of its jobs runs.
    """

    def __init__(self, label: str, total: int, unit: str, done: int = 0) -> None:
        self.label, self.unit, self.done = label, unit, done
        self.bar: tqdm[Never] = tqdm(
            desc=label, total=total, initial=done, unit=f" {unit}", file=sys.stdout, disable=None, leave=False
        )
        self.running: set[int] = set()
        self.since = self.seconds = 0.0

    def begin(self, job: int) -> None:
        if not self.running:
            self.since = time.monotonic()
        self.running.add(job)

    def end(self, job: int) -> None:
        self.running.discard(job)
        if not self.running:
            self.seconds += time.monotonic() - self.since

    def to(self, done: int) -> None:
        if done < self.done:  # a training has started anew, or from a checkpoint that is behind its last record
            self.bar.reset()
            self.bar.initial = self.bar.n = self.bar.last_print_n = self.done = done
        self.bar.update(done - self.done)
        self.done = done

    def close(self) -> None:
        """Write a line in place of the bar."""
        self.bar.close()
        say(f"{self.label:24} {self.done:>7,} {self.unit:8} {span(self.seconds):>12}")


class Follower:
    """What is known about the run so far.

    `log` is the file with Snakemake's messages. `plain_name` gives the name that a rule has in this project, where
    another workflow has renamed it.
    """

    def __init__(self, experiment: Experiment, log: str, plain_name: Callable[[str], str] = str) -> None:
        self.experiment, self.log, self.plain_name = experiment, log, plain_name
        self.counts: dict[str, int] = {}  # jobs of each rule
        self.cores = 1
        self.stages: dict[str, Task] = {}
        self.trainings: dict[str, Task] = {}  # by variant
        self.jobs: dict[int, tuple[Task, Task | None]] = {}  # stage and training of each job that runs

    def note(self, event: str, facts: Mapping[str, Any]) -> None:
        """Process an event, given Snakemake's names for it and for its facts."""
        if event == "resources_info":
            self.cores = facts.get("cores", self.cores)
        elif event == "run_info" and not self.counts:
            self.begin(facts["stats"])
        elif event == "job_info":
            self.start(facts["jobid"], self.plain_name(facts["rule_name"]), facts["wildcards"].get("variant"))
        elif event == "job_finished":
            self.finish(facts["job_id"])
        elif event == "job_error":
            self.fail(facts["jobid"], self.plain_name(facts["rule_name"]), facts["log"])

    def begin(self, counts: Mapping[str, int]) -> None:
        """Say what the run does, by the number of jobs of each rule and their total."""
        self.counts = {self.plain_name(rule): jobs for rule, jobs in counts.items() if rule != "total"}
        jobs, models = counts["total"], self.counts.get("train", 0)
        say(f"{self.experiment.name}: {jobs} jobs, {models} of them trainings; {self.time()}. The full log: {self.log}")

    def time(self) -> str:
        """How long it may take."""
        earlier = measured(self.experiment)
        known = self.counts.keys() & earlier.keys()
        if known and ("train" in known or "train" not in self.counts):  # nothing else takes as long
            work = sum(jobs * earlier.get(rule, 0) for rule, jobs in self.counts.items())
            return f"about {span(work / self.cores)}, by the last run"
        variants = [*self.experiment.variants]
        unfinished = [name for name in variants if not (folders(self.experiment.name, name)[1] / METRICS).exists()]
        for trained in (unfinished, variants):
            seconds, device = training_seconds(self.experiment, trained)
            if seconds and len(trained) == self.counts.get("train"):
                return f"the trainings take about {span(seconds)} on {device}, by the bench"
        return "there is no earlier run to say how long it takes"

    def start(self, job: int, rule: str, variant: str | None) -> None:
        """A job begins, and its stage with the first one."""
        stage = stage_of(rule)
        if stage not in self.stages:
            total = sum(jobs for rule, jobs in self.counts.items() if stage_of(rule) == stage)
            self.stages[stage] = Task(stage, total, "jobs")
        trained = self.experiment.variants.get(variant or "") if rule == "train" else None
        if trained is not None and trained.name not in self.trainings:  # as it is in a second attempt
            before = updates_before(self.experiment, trained) or 0
            last, checkpoints = before + trained.optimization.updates, folders(self.experiment.name, trained.name)[0]
            done = max(before, last_update(read_metrics(checkpoints / METRICS)))
            self.trainings[trained.name] = Task(trained.label, last, "updates", done)
        self.jobs[job] = self.stages[stage], self.trainings[trained.name] if trained else None
        for one in filter(None, self.jobs[job]):
            one.begin(job)

    def look(self) -> None:
        """Update the progress of the trainings."""
        for variant, training in self.trainings.items():
            file = latest(self.experiment.name, variant)
            training.to((last_update(read_metrics(file)) if file else 0) or training.done)

    def finish(self, job: int) -> None:
        """A job is done, and its stage with the last one."""
        if job not in self.jobs:
            return
        self.look()
        stage, training = self.stop(job)
        if training is not None:
            training.close()
            self.trainings = {name: one for name, one in self.trainings.items() if one is not training}
        stage.to(stage.done + 1)
        if stage.done == stage.bar.total:
            stage.close()

    def stop(self, job: int) -> tuple[Task, Task | None]:
        """A job has ended, with or without success: its stage and its training."""
        tasks = self.jobs.pop(job)
        for one in filter(None, tasks):
            one.end(job)
        return tasks

    def fail(self, job: int, rule: str, logs: list[str]) -> None:
        """Show the end of the log of a job that failed."""
        if job in self.jobs:
            self.stop(job)
        for log in logs:
            try:
                lines = Path(log).read_text(encoding="utf-8", errors="replace").rstrip("\n").split("\n")
            except FileNotFoundError:  # another job of its group failed first
                say(f"failed: {rule}, before it wrote a log")
                continue
            except OSError as error:
                lines = [f"({error.strerror})"]
            say(f"failed: {rule}. The end of {log}:")
            for line in lines[-FAILED_LINES:]:
                say(f"    {printable(line)}")

    def end(self) -> None:
        """The run has ended; if it is unfinished, say which log to read."""
        open_bars = [*self.trainings.values(), *(one for one in self.stages.values() if one.done != one.bar.total)]
        for one in open_bars:
            one.bar.close()
        if open_bars:
            say(f"The run did not finish; {self.log} says why. The same command resumes it.")


def say(text: str) -> None:
    """Print a line above the bars."""
    tqdm.write(text)
    sys.stdout.flush()


@cache
def packages() -> dict[str, str]:
    """Module -> the package of `nmt` that it is in."""
    paths = (path.relative_to(PACKAGE) for path in PACKAGE.glob("*/**/*.py"))
    return {path.stem: path.parts[0] for path in paths}


@cache
def stage_of(rule: str) -> str:
    """The stage of a rule, whose name is that of its module, perhaps with an ending; the last one for other rules."""
    modules = [module for module in packages() if rule == module or rule.startswith(f"{module}_")]
    if not modules:
        return STAGES["corpora"] if rule == "development" else LAST_STAGE
    return STAGES.get(packages()[max(modules, key=len)], LAST_STAGE)
