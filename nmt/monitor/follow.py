"""Follow a run of Snakemake from what it prints: one line a stage, and a bar for each training.

Standard input is what Snakemake and its jobs print, and goes to a log file as it is. Of a job that fails, the end of
its log is shown.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Never

from tqdm import tqdm

from nmt.monitor.forecast import BENCH, measured, span, training_seconds
from nmt.settings.experiment import Experiment
from nmt.settings.extends import add_arguments as add_config_arguments
from nmt.settings.extends import read_experiment
from nmt.system.files import printable, read_json
from nmt.system.options import Output

PACKAGE = Path(__file__).parents[1]
# The stage of a rule is that of the room of `nmt` which has a module of its name.
STAGES = {
    "toy": "text",
    "corpora": "text",
    "phrase_based": "phrase-based system",
    "training": "training",
    "search": "translation",
}
LAST_STAGE = "tables and figures"
FAILED_LINES = 10  # of the log of a job that fails

STATISTIC = re.compile(r"(\w+) +(\d+)$")
CORES = re.compile(r"Provided cores: (\d+)")
JOB = re.compile(r"(?:local)?rule (\w+):$")
JOB_ID = re.compile(r"    jobid: (\d+)$")
VARIANT = re.compile(r"    wildcards: .*\bvariant=([^,\s]+)")
UPDATES = re.compile(r"(.+): ([\d,]+) updates (?:of|in) ")
FINISHED = re.compile(r"Finished jobid: (\d+) ")
FAILED = re.compile(r"Error in rule (\w+):$")
LOG = re.compile(r"    log: (.+?)(?: \(check log file\(s\).*)?$")
IDLE = "Nothing to be done"


@dataclass
class Task:
    """A stage or a training under way: what it is called, its bar, which only a terminal shows, and its jobs.

    Its time counts only while one of its jobs runs.
    """

    label: str
    bar: tqdm[Never]
    unit: str
    done: int = 0
    running: set[str] = field(default_factory=set)
    since: float = 0
    seconds: float = 0

    def begin(self, job: str) -> None:
        if not self.running:
            self.since = time.monotonic()
        self.running.add(job)

    def end(self, job: str) -> None:
        self.running.discard(job)
        if not self.running:
            self.seconds += time.monotonic() - self.since

    def to(self, done: int) -> None:
        self.bar.update(done - self.done)
        self.done = done

    def close(self) -> None:
        """Write a line in place of the bar."""
        self.bar.close()
        say(f"{self.label:24} {self.done:>7,} {self.unit:8} {span(self.seconds):>12}")


class Follower:
    """What is known of the run so far."""

    def __init__(self, experiment: Experiment, log: Path) -> None:
        self.experiment, self.log = experiment, log
        self.counts: dict[str, int] = {}  # jobs of each rule
        self.cores = 1
        self.stages: dict[str, Task] = {}
        self.trainings: dict[str, Task] = {}  # by label
        self.jobs: dict[str, tuple[str, str | None]] = {}  # id -> rule and label of the model, if it is a training
        self.rule = self.job = self.failed = ""
        self.counting = False
        self.before: list[str] = []  # what was printed before any job ran, such as what is wrong with the configuration

    def read(self, line: str) -> None:
        """Take note of a line."""
        if not self.stages:
            self.before.append(line)
        if self.counting and (found := STATISTIC.match(line)):
            self.count(found[1], int(found[2]))
        elif line == "Job stats:":
            self.counting = True
        elif found := CORES.match(line):
            self.cores = int(found[1])
        elif found := JOB.match(line):
            self.rule, self.failed = found[1], ""
        elif found := FAILED.match(line):
            self.rule, self.failed = "", found[1]
        elif self.rule and (found := JOB_ID.match(line)):
            self.start(found[1])
        elif self.rule == "train" and (found := VARIANT.match(line)):
            self.train(found[1])
        elif self.failed and (found := LOG.match(line)):
            self.fail(found[1])
        elif found := FINISHED.match(line):
            self.finish(found[1])
        elif (found := UPDATES.match(line)) and found[1] in self.trainings:
            self.trainings[found[1]].to(int(found[2].replace(",", "")))

    def count(self, rule: str, jobs: int) -> None:
        """Note how many jobs of a rule there will be; after the last rule, say what the run does."""
        if rule != "total":
            self.counts[rule] = jobs
            return
        self.counting = False
        experiment = self.experiment
        models = self.counts.get("train", 0)
        say(f"{experiment.name}: {jobs} jobs, {models} of them trainings; {self.time()}. The full log: {self.log}")

    def time(self) -> str:
        """How long it may take."""
        earlier = measured(self.experiment.name)
        if set(self.counts) & earlier.keys():
            work = sum(jobs * earlier.get(rule, 0) for rule, jobs in self.counts.items())
            return f"about {span(work / self.cores)}, by the last run"
        seconds, device = training_seconds(self.experiment, self.experiment.variants, PACKAGE.parent / BENCH)
        if seconds and self.counts.get("train"):
            return f"the trainings take about {span(seconds)} on {device}, by the bench"
        return "there is no earlier run to say how long it takes"

    def start(self, job: str) -> None:
        """A job begins, and its stage with the first one."""
        stage = stage_of(self.rule)
        self.job, self.jobs[job] = job, (self.rule, None)
        if stage not in self.stages:
            total = sum(jobs for rule, jobs in self.counts.items() if stage_of(rule) == stage)
            self.stages[stage] = task(stage, total, "jobs")
        self.stages[stage].begin(job)

    def train(self, name: str) -> None:
        """A training begins."""
        variant = self.experiment.variants[name]
        self.jobs[self.job] = (self.rule, variant.label)
        if variant.label not in self.trainings:  # as it is in a second attempt
            self.trainings[variant.label] = task(variant.label, variant.optimization.updates, "updates")
        self.trainings[variant.label].begin(self.job)

    def finish(self, job: str) -> None:
        """A job is done, and its stage with the last one."""
        rule, label = self.jobs.get(job, ("", None))
        if label is not None:
            training = self.trainings.pop(label)
            training.end(job)
            training.close()
        stage = self.stages.get(stage_of(rule))
        if stage is not None:
            stage.end(job)
            stage.to(stage.done + 1)
            if stage.done == stage.bar.total:
                stage.close()

    def fail(self, log: str) -> None:
        """Show the end of the log of a job that failed."""
        say(f"failed: {self.failed}. The end of {log}:")
        try:
            lines = Path(log).read_text(encoding="utf-8", errors="replace").rstrip("\n").split("\n")
        except OSError as error:
            lines = [f"({error.strerror})"]
        for line in lines[-FAILED_LINES:]:
            say(f"    {printable(line)}")
        self.failed = ""

    def end(self) -> None:
        """The run has ended: say why, where no job was begun, and where to read on, where one is not done."""
        if not self.stages:
            idle = [line for line in self.before if line.startswith(IDLE)]
            for line in idle or self.before[-FAILED_LINES:]:
                say(printable(line))
        open_bars = [*self.trainings.values(), *(one for one in self.stages.values() if one.done != one.bar.total)]
        for one in open_bars:
            one.bar.close()
        if self.stages and not open_bars:
            self.show_scores()
        if open_bars:
            say(f"The run did not come to its end; {self.log} says why. The same command goes on where it stopped.")

    def show_scores(self) -> None:
        """Say the BLEU of every system on the first test set, where it is measured."""
        experiment, [first, *_] = self.experiment, self.experiment.corpora.test
        scores = []
        for system, label in experiment.systems.items():
            file = Path("data") / experiment.name / "evaluation" / system / f"{first}.json"
            if file.is_file():
                scores.append(f"{label} {read_json(file)['all']['bleu']:.1f}")
        if scores:
            say(f"BLEU on {first}: {', '.join(scores)}.")


def task(label: str, total: int, unit: str) -> Task:
    """One of which nothing is done yet."""
    bar: tqdm[Never] = tqdm(desc=label, total=total, unit=f" {unit}", disable=None, leave=False)
    return Task(label, bar, unit)


def say(text: str) -> None:
    """Print a line above the bars."""
    tqdm.write(text)
    sys.stdout.flush()


@cache
def rooms() -> dict[str, str]:
    """Module -> the room of `nmt` that it is in."""
    paths = (path.relative_to(PACKAGE) for path in PACKAGE.glob("*/**/*.py"))
    return {path.stem: path.parts[0] for path in paths}


@cache
def stage_of(rule: str) -> str:
    """The stage of a rule, which has the name of its module, or the name and an ending."""
    modules = [module for module in rooms() if rule == module or rule.startswith(f"{module}_")]
    if not modules:
        return LAST_STAGE if rule == "all" else STAGES["corpora"]
    return STAGES.get(rooms()[max(modules, key=len)], LAST_STAGE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_config_arguments(parser)
    parser.add_argument("--log", type=Output, required=True, metavar="FILE", help="where to write all that is read")


def run(arguments: argparse.Namespace) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for Snakemake, which then says what it does
    experiment = read_experiment(arguments.configs)
    follow(sys.stdin.buffer, experiment, arguments.log)


def follow(lines: Iterable[bytes], experiment: Experiment, log: Path) -> None:
    """Follow a run of `experiment` that prints `lines`."""
    follower = Follower(experiment, log)
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "wb", buffering=0) as file:
        for line in lines:
            file.write(line)
            follower.read(line.decode(errors="replace").rstrip("\n"))
    follower.end()
