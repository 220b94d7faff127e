"""Following a run by Snakemake's events: a line a stage and a training, the end of a failed job's log."""

from __future__ import annotations

import io
import logging
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from snakemake_interface_logger_plugins.tests import MockOutputSettings

import snakemake_logger_plugin_nmt as plugin
from nmt import commands
from nmt.monitor import follow as module
from nmt.monitor.follow import Follower, stage_of
from nmt.settings.experiment import Experiment
from nmt.settings.extends import read_experiment
from snakemake_logger_plugin_nmt import LogHandler

ROOT = Path(__file__).parents[2]
VARIANT = "RNNsearch-50star"
Event = tuple[str, dict[str, Any]]


def started(job: int, rule: str, **wildcards: str) -> Event:
    return "job_info", {"jobid": job, "rule_name": rule, "wildcards": wildcards}


def finished(job: int) -> Event:
    return "job_finished", {"job_id": job}


def failed(job: int, rule: str) -> Event:
    return "job_error", {"jobid": job, "rule_name": rule, "log": ["logs/train.log"]}


HEAD = [
    ("resources_info", {"cores": 2}),
    ("run_info", {"stats": {"fetch": 2, "train": 1, "translate": 1, "all": 1, "total": 5}}),
]
TRAIN = started(3, "train", variant=VARIANT)
BEGIN = [*HEAD, started(1, "fetch"), finished(1), started(2, "fetch"), finished(2), TRAIN]
REST = [finished(3), started(4, "translate"), finished(4), started(0, "all"), finished(0)]


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Experiment:
    """The demonstration, in a folder without an earlier run; its longest training has made 500 updates."""
    monkeypatch.chdir(tmp_path)
    metrics = Path(f"data/demo/checkpoints/{VARIANT}/metrics.jsonl")
    metrics.parent.mkdir(parents=True)
    metrics.write_text('{"updates": 250, "seconds": 9}\n{"updates": 500, "seconds": 20}\n')
    return read_experiment(["demo"])


def record(message: str | None = None, level: int = logging.INFO, **facts: Any) -> logging.LogRecord:
    return logging.makeLogRecord({"msg": message, "levelno": level, **facts})


def handler(dry: bool = False) -> LogHandler:
    settings = MockOutputSettings()
    settings.dryrun = dry
    return LogHandler(settings, None)


def follow(events: list[Event], experiment: Experiment, dry: bool = False) -> None:
    """What Snakemake does with its logger, for a run of `experiment` with `events`."""
    shown = handler(dry)
    shown.handle(record(experiment=experiment, plain_name=str))
    for event, facts in events:
        shown.handle(record(event=event, **facts))
    shown.close()


def said_of(events: list[Event], experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines on standard output; nothing else is printed."""
    follow(events, experiment)
    out, err = capsys.readouterr()
    assert err == ""
    return out.split("\n")[:-1]


def test_a_line_a_stage_and_a_training(experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    """How long the run takes is known of the only model that is not finished."""
    for name in experiment.variants.keys() - {VARIANT}:
        metrics = Path(f"data/demo/models/{name}/metrics.jsonl")
        metrics.parent.mkdir(parents=True)
        metrics.touch()
    first, *lines = said_of(BEGIN + REST, experiment, capsys)
    assert first.startswith("demo: 5 jobs, 1 of them trainings; the trainings take about ")
    assert "by the bench. The full log: " in first
    assert [re.split("  +", line)[:2] for line in lines] == [
        ["text", "2 jobs"],
        ["RNNsearch-50*", "500 updates"],
        ["training", "1 jobs"],
        ["translation", "1 jobs"],
        ["tables and figures", "1 jobs"],
    ]


def test_a_workflow_that_renames_the_rules_shows_the_same(
    experiment: Experiment, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `use rule * from nmt as nmt_*` does."""
    expected = said_of(BEGIN + REST, experiment, capsys)
    shown = handler()
    shown.handle(record(experiment=experiment, plain_name=lambda rule: rule.removeprefix("nmt_")))
    for event, facts in BEGIN + REST:
        if "rule_name" in facts:
            facts = {**facts, "rule_name": f"nmt_{facts['rule_name']}"}
        if "stats" in facts:
            facts = {"stats": {rule if rule == "total" else f"nmt_{rule}": n for rule, n in facts["stats"].items()}}
        shown.handle(record(event=event, **facts))
    shown.close()
    assert capsys.readouterr().out.split("\n")[:-1] == expected


def test_what_a_run_ends_with_is_shown(experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    shown = handler()
    shown.handle(record(experiment=experiment, plain_name=str))
    for event, facts in BEGIN + REST:
        shown.handle(record(event=event, **facts))
    shown.handle(record("Complete log"))
    shown.handle(record("BLEU on a: b\nThe model: c", ending=True))
    shown.close()
    assert capsys.readouterr().out.split("\n")[-3:] == ["BLEU on a: b", "The model: c", ""]


def test_the_time_of_a_stage_is_that_in_which_it_had_jobs(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two jobs at once from 0 to 10 and from 5 to 20 s, nothing for a minute, and one from 80 to 85."""
    jobs = [(0, 1, True), (5, 2, True), (10, 1, False), (20, 2, False), (80, 3, True), (85, 3, False)]
    follower = Follower(experiment, "run.log")
    follower.counts = {"evaluate": 3}
    for seconds, job, starts in jobs:
        monkeypatch.setattr("time.monotonic", lambda now=seconds: now)
        follower.note(*(started(job, "evaluate") if starts else finished(job)))
    assert capsys.readouterr().out.split() == ["tables", "and", "figures", "3", "jobs", "25", "seconds"]


def test_the_last_run_says_how_long_it_takes(experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two archives in 10 s each on average, and a training of 290 s; the translation is not known. Two cores."""
    seconds = {"fetch/demo/a.tsv": 5, "fetch/demo/b/c.tsv": 15}
    seconds |= {
        "train/demo/RNNsearch-50.tsv": 290,
        "train/other/RNNsearch-50.tsv": 9999,
        "train/demo/removed.tsv": 9999,
    }
    for name, value in seconds.items():
        file = Path("benchmarks") / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"s\th:m:s\n{value}\t0:00:00\n")
    first, *_ = said_of(HEAD, experiment, capsys)
    assert "about 3 minutes, by the last run" in first  # 155 s
    Path("benchmarks/train/demo/RNNsearch-50.tsv").unlink()  # the run has ended before
    first, *_ = said_of(HEAD, experiment, capsys)
    assert "there is no earlier run to say how long it takes" in first


def test_a_failure_shows_the_end_of_its_log(experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    Path("logs").mkdir()
    Path("logs/train.log").write_text("".join(f"line {number}\n" for number in range(1, 31)))
    lines = said_of([*BEGIN, failed(3, "train")], experiment, capsys)
    shown = lines[lines.index("failed: train. The end of logs/train.log:") + 1 :]
    assert shown[:-1] == [f"    line {number}" for number in range(21, 31)]
    assert shown[-1].startswith("The run did not finish; ")


def test_a_failure_without_a_log_is_one_line(experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    """As of a job that did not begin, because another one of its group failed."""
    *_, line, _ = said_of([*BEGIN, failed(3, "train")], experiment, capsys)
    assert line == "failed: train, before it wrote a log"


def test_a_second_attempt_is_the_same_training(experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said_of([*BEGIN, failed(3, "train"), TRAIN, *REST], experiment, capsys)
    assert len([line for line in lines if line.startswith("RNNsearch-50*")]) == 1
    assert not [line for line in lines if "did not finish" in line]


def test_a_variant_that_the_experiment_lacks_has_no_bar(
    experiment: Experiment, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said_of([*HEAD, started(3, "train", variant="other"), finished(3), finished(9)], experiment, capsys)
    assert [re.split("  +", line)[:2] for line in lines[1:]] == [["training", "1 jobs"]]


def test_why_no_job_begins(experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    """What Snakemake says of itself is shown then alone, and not in a dry run."""
    idle = plugin.NOTHING_TO_BE_DONE_MSG
    for message, level in ((idle, logging.INFO), ("config.seed: a", logging.ERROR), ("Building", logging.INFO)):
        shown = handler()
        shown.handle(record(experiment=experiment, plain_name=str))
        shown.handle(record(message, level))
        shown.close()
    assert capsys.readouterr().out == f"{idle.strip()}\nconfig.seed: a\n"
    shown = handler()
    shown.handle(record(experiment=experiment, plain_name=str))
    for event, facts in BEGIN:
        shown.handle(record(event=event, **facts))
    capsys.readouterr()
    shown.handle(record("At least one job did not complete successfully.", logging.ERROR))
    assert capsys.readouterr().out == ""


def test_a_dry_run_shows_nothing(experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    follow(BEGIN + REST, experiment, dry=True)
    assert capsys.readouterr() == ("", "")


def test_a_failure_of_the_display_is_said_once_and_ends_nothing(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Follower, "start", lambda *facts: {}["odd"])
    follow(BEGIN + REST, experiment)
    out, err = capsys.readouterr()
    assert err == "The display has failed (KeyError('odd')); the run continues.\n"
    assert len(out.split("\n")) == 2


class Terminal(io.StringIO):
    """A standard output that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_bar_for_each_training(experiment: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of a model that continues another has the updates of both."""
    summary = Path("data/demo/models/RNNsearch-50/summary.json")
    summary.parent.mkdir(parents=True)
    summary.write_text('{"updates_best": 400}')
    last = 400 + experiment.variants[VARIANT].optimization.updates
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(module.tqdm, "monitor_interval", 0)
    monkeypatch.setattr(plugin, "SECONDS", 0.01)
    shown = handler()
    shown.handle(record(experiment=experiment, plain_name=str))
    for event, facts in BEGIN:
        shown.handle(record(event=event, **facts))
    end = time.monotonic() + 20
    while "500/" not in terminal.getvalue() and time.monotonic() < end:
        time.sleep(0.05)
    shown.close()
    assert re.search(rf"RNNsearch-50\*: +50%.*500/{last} \[00:00<", terminal.getvalue())
    assert re.search(r"text: +0%.*0/2 ", terminal.getvalue())


def test_a_bar_that_goes_back_counts_what_is_done_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    task = module.Task("A", 4000, "updates", done=3000)
    for done in (3000, 1100, 1200):
        task.to(done)
    facts = task.bar.format_dict
    assert (facts["n"], facts["initial"]) == (1200, 1100)
    task.bar.close()


@pytest.mark.parametrize("code", [0, 1])
def test_make_demo_uses_the_logger(code: int, tmp_path: Path) -> None:
    """With a stand-in for Snakemake, which prints and fails as it does; its exit code is that of make."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    programs = tmp_path / ".venv/bin"
    programs.mkdir(parents=True)
    (tmp_path / "results/demo").mkdir(parents=True)
    run = f"case $* in *--report*) ;; *'--logger nmt'*) echo a line a stage; echo all else >&2; exit {code};; esac"
    (programs / "snakemake").write_text(f"#!/bin/sh\n{run}\n")
    (programs / "snakemake").chmod(0o755)
    for name in ("requirements.txt", "pyproject.toml", ".venv/made"):
        (tmp_path / name).touch()
    # `make test` gives its own variables to what it runs.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    made = subprocess.run(["make", "demo"], cwd=tmp_path, env=inherited, capture_output=True, text=True, check=False)
    assert bool(made.returncode) == bool(code), made.stderr
    assert made.stdout.startswith("a line a stage\n")
    assert ("results/demo/report.html" in made.stdout) == (not code)
    assert (tmp_path / "logs/demo.log").read_text() == "all else\n"


@pytest.mark.parametrize(
    ("rule", "stage"),
    [
        ("generate", "text"),
        ("development", "text"),
        ("extract_monolingual", "text"),
        ("thot_translate", "phrase-based system"),
        ("train", "training"),
        ("translate_no_unk", "translation"),
        ("evaluate", "tables and figures"),
        ("sheet_table1", "tables and figures"),
        ("table1", "tables and figures"),
        ("all", "tables and figures"),
        ("of_another_workflow", "tables and figures"),
    ],
)
def test_the_stage_of_a_rule(rule: str, stage: str) -> None:
    assert stage_of(rule) == stage


def test_every_step_has_a_module_that_tells_its_stage() -> None:
    assert {step.rpartition(".")[2] for step in commands.names()} <= module.packages().keys()
