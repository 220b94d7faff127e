"""Following a run: a line a stage and a training, the end of a failed job's log, all else only in the log file."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nmt import commands
from nmt.monitor import follow as module
from nmt.monitor.follow import Follower, follow, stage_of
from nmt.settings.experiment import Experiment
from nmt.settings.extends import read_experiment

ROOT = Path(__file__).parents[2]
# As Snakemake 9 prints them, with what jobs print between its own lines.
HEAD = """\
Assuming unrestricted shared filesystem usage.
Provided cores: 2
Job stats:
job           count
----------  -------
fetch             2
train             1
translate         1
all               1
total             5

"""
FETCH = """\
[Sun Nov 22 15:03:30 2026]
localrule fetch:
    output: data/demo/archives/{0}
    log: logs/fetch/demo/{0}.log
    jobid: {0}
    wildcards: archive={0}
fetch {0}: 1.2 MB in 0.1 s
[Sun Nov 22 15:03:31 2026]
Finished jobid: {0} (Rule: fetch)
1 of 5 steps (20%) done
"""
TRAIN = """\
rule train:
    output: data/demo/models/RNNsearch-50star/model.safetensors
    log: logs/train/demo/RNNsearch-50star.log
    jobid: 3
    wildcards: variant=RNNsearch-50star
RNNsearch-50*: 250 updates of 1,000 updates, train nll 99.09, words per second 1.2e+04
"""
TRAINED = """\
RNNsearch-50*: 1,000 updates of 1,000 updates, train nll 9.9, words per second 1.2e+04
RNNsearch-50*: 1,000 updates in 189.2 s
Finished jobid: 3 (Rule: train)
"""
REST = """\
rule translate:
    jobid: 4
Finished jobid: 4 (Rule: translate)
localrule all:
    jobid: 0
Finished jobid: 0 (Rule: all)
5 of 5 steps (100%) done
"""
FAILURE = """\
RuleException:
CalledProcessError in file "x", line 1:
Error in rule train:
    message: None
    jobid: 3
    log: logs/train.log (check log file(s) for error details)
Logfile logs/train.log:
================
line 1
"""
BEGIN = HEAD + FETCH.format(1) + FETCH.format(2) + TRAIN


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Experiment:
    """The demonstration, in a folder without an earlier run."""
    (tmp_path / "config").symlink_to(ROOT / "config")
    monkeypatch.chdir(tmp_path)
    return read_experiment(["demo"])


def said_of(text: str, experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines on standard output; nothing else is printed, and all of `text` is in the log."""
    log = Path("logs/run.log")
    follow(io.BytesIO(text.encode()), experiment, log)
    assert log.read_text() == text
    out, err = capsys.readouterr()
    assert err == ""
    return out.split("\n")[:-1]


def test_a_line_a_stage_and_a_training(experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    for system, bleu in (("RNNsearch-50star", 91.14), ("phrase-based", 81.26)):
        file = Path(f"data/demo/evaluation/{system}/toy-test.json")
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"all": {"bleu": bleu}}))
    first, *lines, last = said_of(BEGIN + TRAINED + REST, experiment, capsys)
    assert first.startswith("demo: 5 jobs, 1 of them trainings; the trainings take about ")
    assert first.endswith("by the bench. The full log: logs/run.log")
    assert [re.split("  +", line)[:2] for line in lines] == [
        ["text", "2 jobs"],
        ["RNNsearch-50*", "1,000 updates"],
        ["training", "1 jobs"],
        ["translation", "1 jobs"],
        ["tables and figures", "1 jobs"],
    ]
    assert last == "BLEU on toy-test: RNNsearch-50* 91.1, Phrase-based (Thot) 81.3."


def test_the_time_of_a_stage_is_that_in_which_it_had_jobs(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two jobs at once from 0 to 10 and from 5 to 20 s, nothing for a minute, and one from 80 to 85."""
    events = [(0, 1, "start"), (5, 2, "start"), (10, 1, ""), (20, 2, ""), (80, 3, "start"), (85, 3, "")]
    follower = Follower(experiment, Path("logs/run.log"))
    follower.counts = {"evaluate": 3}
    for seconds, job, starts in events:
        monkeypatch.setattr("time.monotonic", lambda now=seconds: now)
        for line in ["rule evaluate:", f"    jobid: {job}"] if starts else [f"Finished jobid: {job} (Rule: evaluate)"]:
            follower.read(line)
    assert capsys.readouterr().out.split() == ["tables", "and", "figures", "3", "jobs", "25", "seconds"]


def test_the_last_run_says_how_long_it_takes(experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two archives in 10 s each on average, and a training of 290 s; the translation is not known. Two cores."""
    seconds = {"fetch/demo/a.tsv": 5, "fetch/demo/b/c.tsv": 15, "train/demo/x.tsv": 290, "train/other/x.tsv": 9999}
    for name, value in seconds.items():
        file = Path("benchmarks") / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"s\th:m:s\n{value}\t0:00:00\n")
    first, *_ = said_of(HEAD, experiment, capsys)
    assert "about 3 minutes, by the last run" in first  # 155 s


def test_a_failure_shows_the_end_of_its_log(experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    Path("logs").mkdir()
    Path("logs/train.log").write_text("".join(f"line {number}\n" for number in range(1, 31)))
    lines = said_of(BEGIN + FAILURE, experiment, capsys)
    shown = lines[lines.index("failed: train. The end of logs/train.log:") + 1 :]
    assert shown[:-1] == [f"    line {number}" for number in range(21, 31)]
    assert shown[-1] == (
        "The run did not come to its end; logs/run.log says why. The same command goes on where it stopped."
    )


def test_a_second_attempt_is_the_same_training(experiment: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said_of(BEGIN + FAILURE + "Trying to restart job 3.\n" + TRAIN + TRAINED + REST, experiment, capsys)
    assert len([line for line in lines if line.startswith("RNNsearch-50*")]) == 1
    assert not [line for line in lines if "did not come to its end" in line]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Building DAG\nNothing to be done (all is up to date).\n", ["Nothing to be done (all is up to date)."]),
        ("snakemake: config.seed: expected a number\n", ["snakemake: config.seed: expected a number"]),
        ("", []),
    ],
)
def test_where_no_job_begins_the_reason_is_shown(
    text: str, said: list[str], experiment: Experiment, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said_of(text, experiment, capsys) == said


class Terminal(io.StringIO):
    """A standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_bar_for_each_training(experiment: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(module.tqdm, "monitor_interval", 0)
    follow(io.BytesIO((BEGIN + TRAINED).encode()), experiment, Path("run.log"))
    assert re.search(r"RNNsearch-50\*: +0%.*0/1000 ", terminal.getvalue())
    assert re.search(r"text: +0%.*0/2 ", terminal.getvalue())


@pytest.mark.parametrize(("text", "code"), [(BEGIN + TRAINED + REST, 0), (BEGIN + FAILURE, 1)])
def test_make_demo_shows_a_line_a_stage(text: str, code: int, experiment: Experiment, tmp_path: Path) -> None:
    """With a stand-in for Snakemake, which prints and fails as it does; its exit code is that of make."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    programs = tmp_path / ".venv/bin"
    programs.mkdir(parents=True)
    (tmp_path / "said").write_text(text)
    (tmp_path / "results/demo").mkdir(parents=True)
    stands_in = f"case $* in *--report*) ;; *) cat said >&2; exit {code};; esac"
    for name, script in (("snakemake", stands_in), ("python", f'exec "{sys.executable}" "$@"')):
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    for name in ("requirements.txt", ".venv/made"):
        (tmp_path / name).touch()
    # `make test` gives its own variables to what it runs.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    environment = {**inherited, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(["make", "demo"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert bool(run.returncode) == bool(code), run.stderr
    assert run.stdout.startswith("demo: 5 jobs, 1 of them trainings; ")
    assert ("results/demo/index.html" in run.stdout) == (not code)
    assert ("failed: train." in run.stdout) == bool(code)
    assert len(run.stdout.split("\n")) < 15
    assert (tmp_path / "logs/demo.log").read_text() == text


@pytest.mark.parametrize(
    ("rule", "stage"),
    [
        ("mirror", "text"),
        ("development", "text"),
        ("extract_monolingual", "text"),
        ("thot_translate", "phrase-based system"),
        ("train", "training"),
        ("translate_no_unk", "translation"),
        ("evaluate", "tables and figures"),
        ("sheet_table1", "tables and figures"),
        ("table1", "tables and figures"),
        ("all", "tables and figures"),
    ],
)
def test_the_stage_of_a_rule(rule: str, stage: str) -> None:
    assert stage_of(rule) == stage


def test_every_step_has_a_module_that_tells_its_stage() -> None:
    assert {step.rpartition(".")[2] for step in commands.names()} <= module.rooms().keys()
