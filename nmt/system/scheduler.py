"""Submit the workflow's jobs to a scheduler with qsub or bsub, and query their state: the commands of profiles/cluster.

    python -m nmt.system.scheduler submit SCHEDULER [NAME=VALUE ...] [WORD ...] JOBSCRIPT
    python -m nmt.system.scheduler status SCHEDULER JOB

The first prints the number of the job, the second "running", "success" or "failed". A NAME is what a site calls
something, see `SCHEDULERS`; WORDs go to qsub or bsub as they are. A job leaves its exit code in a file, so that no
accounting is needed; one that the scheduler no longer knows, and that has left none, was cancelled or killed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.system.errors import UserError

FOLDER = Path(".snakemake/cluster")  # of the exit codes, and of what jobs print
PATIENCE = 60  # seconds until a file must have crossed a shared file system
ANSWER_SECONDS = 60  # within which a scheduler answers
PAUSES = (5, 15, 45)  # seconds after which a refused job is submitted again: the scheduler may just be starting
PROPERTIES = "# properties = "  # the line of a job script that says what the job needs
# The job of the scheduler: Snakemake's script, and then its exit code in a file that is whole or absent. It names the
# path, which a login shell sets anew.
SCRIPT = """\
#!/bin/sh
export PATH={path}
sh {jobscript}
code=$?
echo $code > {folder}/"${number}".partial
mv {folder}/"${number}".partial {folder}/"${number}".exit
exit $code
"""


@dataclass(frozen=True)
class Needs:
    """What a job asks for: its name, CPU threads, memory in MB, minutes, and GPUs."""

    name: str
    threads: int
    mem_mb: int
    minutes: int
    gpus: int

    @classmethod
    def of(cls, jobscript: Path) -> Needs:
        """Those that Snakemake writes into the job script of a rule or a group."""
        lines = jobscript.read_text(encoding="utf-8").split("\n")
        given = json.loads(next(line for line in lines if line.startswith(PROPERTIES)).removeprefix(PROPERTIES))
        resources: Mapping[str, Any] = given["resources"]
        return cls(
            name=f"nmt.{given.get('rule') or given['groupid']}",
            threads=int(given.get("threads", 1)),
            mem_mb=int(resources.get("mem_mb", 1)),
            minutes=int(resources.get("runtime", 1)),
            gpus=int(resources.get("gpu", 0)),
        )


@dataclass(frozen=True)
class Scheduler:
    """How to talk to one: `command` submits a job with these needs, whose script it reads from standard input.

    Its other arguments are a folder for the log and what the site calls things; `names` are the usual ones. `number` is
    the variable in which a job finds its own number, which `printed` finds in what the command prints. `ask` shows a
    job, and shows `gone` if it will not run any more; where the scheduler does not answer, the job is taken to run.
    """

    command: Callable[[Needs, Path, Mapping[str, str]], list[str]]
    names: Mapping[str, str]
    number: str
    printed: str
    ask: tuple[str, ...]
    gone: str


def _grid_engine(job: Needs, folder: Path, names: Mapping[str, str]) -> list[str]:
    """Memory is that of a slot, and a slot is a thread."""
    limits = [f"h_rt={60 * job.minutes}", f"{names['memory']}={-(-job.mem_mb // job.threads)}M"]
    limits += [f"{names['gpu']}={job.gpus}"] * bool(job.gpus)
    parallel = ["-pe", names["parallel"], str(job.threads)] if job.threads > 1 else []
    output = ["-N", job.name, "-j", "y", "-o", str(folder)]
    return ["qsub", "-terse", "-V", "-S", "/bin/sh", *output, *parallel, "-l", ",".join(limits)]


def _pbs(job: Needs, folder: Path, names: Mapping[str, str]) -> list[str]:
    chunk = f"select=1:ncpus={job.threads}:mem={job.mem_mb}mb" + f":{names['gpu']}={job.gpus}" * bool(job.gpus)
    walltime = f"walltime={job.minutes // 60:02}:{job.minutes % 60:02}:00"
    output = ["-N", job.name, "-j", "oe", "-o", f"{folder}/"]
    return ["qsub", "-V", "-S", "/bin/sh", *output, "-l", chunk, "-l", walltime]


def _lsf(job: Needs, folder: Path, names: Mapping[str, str]) -> list[str]:
    where = f"span[hosts=1] rusage[mem={job.mem_mb}{names['unit']}]"
    gpus = ["-gpu", f"num={job.gpus}"] if job.gpus else []
    output = ["-J", job.name, "-o", f"{folder}/%J.log"]
    return ["bsub", *output, "-n", str(job.threads), "-R", where, "-W", str(job.minutes), *gpus]


SCHEDULERS = {
    "grid_engine": Scheduler(
        _grid_engine,
        {"parallel": "smp", "memory": "mem_free", "gpu": "gpu"},
        "JOB_ID",
        r"^(\d+)(?:\.\S*)?$",
        ("qstat", "-j"),
        r"^Following jobs do not exist|^error reason",
    ),
    "pbs": Scheduler(
        _pbs,
        {"gpu": "ngpus"},
        "PBS_JOBID",
        r"^(\d+(?:\.\S+)?)$",
        ("qstat",),
        r"Unknown Job Id|has finished",
    ),
    "lsf": Scheduler(
        _lsf,
        {"unit": "MB"},
        "LSB_JOBID",
        r"^Job <(\d+)> is submitted",
        ("bjobs", "-noheader", "-o", "stat"),
        r"is not found|^\s*(?:DONE|EXIT|ZOMBI)\s*$",
    ),
}


def submit(scheduler: Scheduler, words: list[str], jobscript: Path) -> str:
    """Submit a job script of Snakemake's and return the number of the job; UserError where it is refused."""
    folder = FOLDER.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    names = dict(scheduler.names)
    while words and words[0].partition("=")[0] in names:
        name, _, names[name] = words[0].partition("=")
        words = words[1:]
    command = [*scheduler.command(Needs.of(jobscript), folder, names), *words]
    path, script, place = (shlex.quote(str(one)) for one in (os.environ["PATH"], jobscript, folder))
    script = SCRIPT.format(path=path, jobscript=script, folder=place, number=scheduler.number)
    before = {}
    for code in folder.glob("*.exit"):
        with suppress(FileNotFoundError):  # read and removed by a check of that job, meanwhile
            before[code.name] = code.stat().st_mtime_ns
    try:
        for pause in (*PAUSES, None):
            run = subprocess.run(command, input=script.encode(), stdout=subprocess.PIPE, check=False)
            if not run.returncode:
                break
            if pause is None:
                raise UserError(f"{shlex.join(command)}: refused; correct what profiles/cluster adds to it")
            time.sleep(pause)
    except FileNotFoundError:
        raise UserError(f"{command[0]}: no such command; submit jobs from a machine that has it") from None
    except OSError as error:
        raise UserError(f"{command[0]}: cannot be run ({error.strerror}); correct it or the PATH") from None
    printed = run.stdout.decode(errors="replace")
    found = re.findall(scheduler.printed, printed, re.MULTILINE)
    if not found:  # submitting it again would run it twice
        raise UserError(
            f"{command[0]}: took the job, but printed no number ({printed.strip()!r}); unset BSUB_QUIET, or call "
            f"{command[0]} itself in place of a wrapper"
        )
    job: str = found[-1]
    # The number may have been another job's; this one may have ended by now.
    code = folder / f"{job}.exit"
    if code.exists() and code.stat().st_mtime_ns == before.get(code.name):
        code.unlink()
    (folder / f"{job}.gone").unlink(missing_ok=True)
    return job


def _answer(command: list[str]) -> str:
    """What `command` prints; nothing where there is no such command now, or where it does not end."""
    with suppress(OSError, subprocess.TimeoutExpired):
        run = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=ANSWER_SECONDS
        )
        return run.stdout.decode(errors="replace")
    return ""


def check_slurm() -> None:
    """Raise UserError where Slurm does not answer: Snakemake would wait for ever for the first job to be submitted."""
    try:
        run = subprocess.run(["sinfo"], capture_output=True, check=False, timeout=ANSWER_SECONDS)
        if not run.returncode:
            return
        reason = run.stderr.decode(errors="replace").strip().split("\n")[-1]
    except OSError as error:
        reason = str(error.strerror)
    except subprocess.TimeoutExpired:
        reason = f"no answer within {ANSWER_SECONDS} seconds"
    raise UserError(f"slurm: sinfo fails here ({reason}); start the workflow where jobs are submitted")


def file_time() -> float:
    """The time by the clock of the file system, which may be another machine's, in seconds."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.utime(FOLDER)
    return FOLDER.stat().st_mtime


def status(scheduler: Scheduler, job: str, now: float) -> str:
    """Whether a job is "running" (or waits), or has ended in "success" or "failed", at the file system's time `now`."""
    code, gone = FOLDER / f"{job}.exit", FOLDER / f"{job}.gone"
    if not code.exists():
        if not re.search(scheduler.gone, _answer([*scheduler.ask, job]), re.MULTILINE):
            gone.unlink(missing_ok=True)
            return "running"
        with suppress(FileExistsError):
            gone.touch(exist_ok=False)
        waited = now - gone.stat().st_mtime
        if waited < 0:  # the clock was set back
            gone.touch()
        if waited < PATIENCE:
            return "running"
    ended = code.exists() and code.read_text().strip() == "0"
    for file in (code, gone):
        file.unlink(missing_ok=True)  # the number may be reused
    return "success" if ended else "failed"


def main(words: list[str]) -> int:
    """Run one of the two commands and return the exit code."""
    try:
        match words:
            case ["submit", name, *more, jobscript] if name in SCHEDULERS:
                print(submit(SCHEDULERS[name], more, Path(jobscript).resolve()))
            case ["status", name, job] if name in SCHEDULERS:
                print(status(SCHEDULERS[name], job, file_time()))
            case _:
                raise UserError(f"expected submit or status, and one of {', '.join(SCHEDULERS)}")
    except UserError as error:
        print(f"nmt.system.scheduler: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
