"""Jobs are submitted to Grid Engine, PBS and LSF, here stand-ins that say what the real ones say, and asked for."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from nmt.system import scheduler as scheduler_module
from nmt.system.errors import UserError
from nmt.system.scheduler import (
    FOLDER,
    PATIENCE,
    SCHEDULERS,
    Needs,
    check_slurm,
    file_time,
    main,
    status,
)

TRAIN = {"type": "single", "rule": "train", "threads": 4, "resources": {"mem_mb": 16001, "runtime": 150, "gpu": 1}}
EXTRACT = {"type": "group", "groupid": "extract", "threads": 1, "resources": {"mem_mb": 500, "runtime": 10}}
# What each submission prints, and what is said of a job that runs, that is unknown, and when there is no answer.
PRINTED = {"grid_engine": "4711", "pbs": "4711.server", "lsf": "Job <4711> is submitted to default queue <normal>."}
VARIABLES = {"grid_engine": "JOB_ID", "pbs": "PBS_JOBID", "lsf": "LSB_JOBID"}
SAID = {
    "grid_engine": (
        "job_number: 4711\nenv_list: ERRORS=folders that do not exist,WHY=error reason",
        "Following jobs do not exist: \n4711",
        "error: unable to contact qmaster",
    ),
    "pbs": ("4711.server  nmt.train  user  0 R workq", "qstat: Unknown Job Id 4711.server", "Connection refused"),
    "lsf": ("RUN", "Job <4711> is not found", "LSF is down. Please wait ..."),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with stand-ins that note their words and their input, and say what the file `said` holds."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("qsub", "bsub", "qstat", "bjobs"):
        script = f"#!/bin/sh\nprintf '%s\\n' {name} \"$@\" > {tmp_path}/words\n"
        script += f"cat > {tmp_path}/script\n" if name.endswith("sub") else ""
        (programs / name).write_text(f"{script}cat {tmp_path}/said >&{1 if name.endswith('sub') else 2}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(scheduler_module, "PAUSES", (0, 0, 0))
    return tmp_path


def write_jobscript(folder: Path, properties: dict[str, object], command: str = "exit 0") -> Path:
    """A job script as Snakemake writes it."""
    path = folder / "snakejob.sh"
    path.write_text(f"#!/bin/sh\n# properties = {json.dumps(properties)}\n{command}\n")
    return path


def submitted(folder: Path, scheduler: str, *words: str) -> list[str]:
    """The words of the command that submits a job."""
    (folder / "said").write_text(PRINTED[scheduler])
    assert main(["submit", scheduler, *words, str(folder / "snakejob.sh")]) == 0
    return (folder / "words").read_text().split("\n")[:-1]


@pytest.mark.parametrize(
    ("scheduler", "words", "expected"),
    [
        (
            "grid_engine",
            ["memory=h_vmem", "parallel=threaded", "-q", "long"],
            "qsub -terse -V -S /bin/sh -N nmt.train -j y -o {log} -pe threaded 4 "
            "-l h_rt=9000,h_vmem=4001M,gpu=1 -q long",
        ),
        (
            "pbs",
            ["-q", "long"],
            "qsub -V -S /bin/sh -N nmt.train -j oe -o {log}/ -l select=1:ncpus=4:mem=16001mb:ngpus=1 "
            "-l walltime=02:30:00 -q long",
        ),
        (
            "lsf",
            [],
            "bsub -J nmt.train -o {log}/%J.log -n 4 -R span[hosts=1] rusage[mem=16001MB] -W 150 -gpu num=1",
        ),
    ],
)
def test_a_job_asks_for_what_its_rule_needs(
    folder: Path, scheduler: str, words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_jobscript(folder, TRAIN)
    log = str(folder.resolve() / FOLDER)
    assert " ".join(submitted(folder, scheduler, *words)) == expected.format(log=log)
    assert capsys.readouterr().out.split("\n")[0] == PRINTED[scheduler].removeprefix("Job <").split(">")[0]


@pytest.mark.parametrize(
    ("scheduler", "left_out"), [("grid_engine", ["-pe", "gpu"]), ("pbs", ["ngpus"]), ("lsf", ["-gpu"])]
)
def test_a_job_of_a_group_asks_for_no_gpu(folder: Path, scheduler: str, left_out: list[str]) -> None:
    assert Needs.of(write_jobscript(folder, EXTRACT)) == Needs("nmt.extract", 1, 500, 10, 0)
    words = " ".join(submitted(folder, scheduler))
    assert "nmt.extract" in words
    assert not [word for word in left_out if word in words]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize(("code", "expected"), [(0, "success"), (1, "failed")])
def test_a_job_that_has_ended_has_left_its_exit_code(
    folder: Path, scheduler: str, code: int, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is asked for when the scheduler knows it no more; its number may then be given to another job."""
    write_jobscript(folder, TRAIN, f"touch done; exit {code}")
    submitted(folder, scheduler)
    job = capsys.readouterr().out.strip()
    (folder / "elsewhere").mkdir()
    run = subprocess.run(
        ["sh", str(folder / "script")],
        cwd=folder / "elsewhere",
        env={**os.environ, VARIABLES[scheduler]: job},
        check=False,
    )
    assert run.returncode == code
    assert (folder / "elsewhere/done").exists()
    (folder / "said").write_text(SAID[scheduler][1])
    assert main(["status", scheduler, job]) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert list((folder / FOLDER).iterdir()) == []


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_job_that_was_cancelled_has_failed(folder: Path, scheduler: str) -> None:
    """It is waited for, because its exit code may be on its way; and while the scheduler says nothing of it."""
    known, unknown, silence = SAID[scheduler]
    (folder / FOLDER).mkdir(parents=True)
    now = time.time()
    for said, later, expected in (
        (known, 0.0, "running"),
        (silence, 9999.0, "running"),
        (unknown, 0.0, "running"),
        (known, 0.0, "running"),
        (unknown, 0.0, "running"),
        (unknown, PATIENCE + 100.0, "failed"),
    ):
        (folder / "said").write_text(said)
        assert status(SCHEDULERS[scheduler], "4711", now + later) == expected
        assert said is not known or list((folder / FOLDER).iterdir()) == []  # so it is waited for once more
    assert list((folder / FOLDER).iterdir()) == []


def test_a_clock_that_is_set_back_delays_an_answer_by_a_minute(folder: Path) -> None:
    (folder / "said").write_text(SAID["grid_engine"][1])
    now = file_time()
    assert status(SCHEDULERS["grid_engine"], "4711", now) == "running"
    os.utime(folder / FOLDER / "4711.gone", (now + 9999, now + 9999))
    assert status(SCHEDULERS["grid_engine"], "4711", now) == "running"
    assert status(SCHEDULERS["grid_engine"], "4711", now + PATIENCE + 100) == "failed"


def test_a_job_of_grid_engine_in_an_error_state_has_failed(folder: Path) -> None:
    (folder / FOLDER).mkdir(parents=True)
    (folder / "said").write_text("job_number: 4711\nerror reason    1:      can't chdir\n")
    assert status(SCHEDULERS["grid_engine"], "4711", time.time()) == "running"
    assert status(SCHEDULERS["grid_engine"], "4711", time.time() + PATIENCE + 100) == "failed"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["submit", "lsf", "snakejob.sh"], "bsub: took the job, but printed no number (''); unset BSUB_QUIET"),
        (["status", "torque", "1"], "expected submit or status, and one of grid_engine, pbs, lsf"),
        ([], "expected submit or status"),
    ],
)
def test_a_mistake_is_one_line(folder: Path, words: list[str], said: str, capfd: pytest.CaptureFixture[str]) -> None:
    write_jobscript(folder, TRAIN)
    (folder / "said").write_text("")
    assert main(words) == 1
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_a_job_that_was_taken_is_not_submitted_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It would run twice, and both would write the same files."""
    write_jobscript(folder, TRAIN)
    tries = folder / "tries"
    wrapper = "Your job 78 has been submitted"
    (folder / "programs" / "qsub").write_text(f"#!/bin/sh\ncat > /dev/null; echo >> {tries}\necho '{wrapper}'\n")
    assert main(["submit", "grid_engine", str(folder / "snakejob.sh")]) == 1
    assert f"qsub: took the job, but printed no number ('{wrapper}')" in capsys.readouterr().err
    assert tries.read_text() == "\n"


def test_a_submission_that_is_refused_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_jobscript(folder, TRAIN)
    (folder / "programs" / "qsub").write_text("#!/bin/sh\nexit 1\n")
    assert main(["submit", "grid_engine", "-q", "none", str(folder / "snakejob.sh")]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "-q none: refused; correct what profiles/cluster adds" in said


def test_a_submission_that_is_refused_is_tried_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As while the scheduler starts."""
    write_jobscript(folder, TRAIN)
    program = folder / "programs" / "qsub"
    tries = folder / "tries"
    program.write_text(
        f"#!/bin/sh\ncat > /dev/null; echo >> {tries}\n[ $(wc -l < {tries}) = 3 ] || exit 1\necho 4711\n"
    )
    assert main(["submit", "pbs", str(folder / "snakejob.sh")]) == 0
    assert capsys.readouterr().out == "4711\n"


def test_what_a_login_prints_is_no_number(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_jobscript(folder, TRAIN)
    for scheduler, printed in PRINTED.items():
        (folder / "said").write_bytes(b"Welcome to node 17 <2>, 2026\n\xff\n" + printed.encode() + b"\nBye 3\n")
        assert main(["submit", scheduler, str(folder / "snakejob.sh")]) == 0
        assert capsys.readouterr().out in ("4711\n", "4711.server\n")


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_no_answer_is_no_end(scheduler: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither bytes that are no text, nor a missing command, nor one that does not end."""
    (folder / FOLDER).mkdir(parents=True)
    (folder / "said").write_bytes(b"\xff DONE or EXIT?\n")
    assert status(SCHEDULERS[scheduler], "4711", time.time() + 9999) == "running"
    program = folder / "programs" / SCHEDULERS[scheduler].ask[0]
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(scheduler_module, "ANSWER_SECONDS", 0.1)
    assert status(SCHEDULERS[scheduler], "4711", time.time() + 9999) == "running"
    monkeypatch.setenv("PATH", "")
    assert status(SCHEDULERS[scheduler], "4711", time.time() + 9999) == "running"


def test_a_missing_command_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_jobscript(folder, TRAIN)
    monkeypatch.setenv("PATH", "")
    assert main(["submit", "pbs", "snakejob.sh"]) == 1
    assert capsys.readouterr().err == (
        "nmt.system.scheduler: qsub: no such command; submit jobs from a machine that has it\n"
    )


def test_a_command_that_cannot_be_run_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_jobscript(folder, TRAIN)
    monkeypatch.setenv("PATH", str(folder / "programs"))  # where no real one is found in its place
    for content in ("#!/nowhere/sh\n", "no program"):
        (folder / "programs" / "qsub").write_text(content)
        (folder / "programs" / "qsub").chmod(0o755 if content == "no program" else 0o644)
        assert main(["submit", "pbs", "snakejob.sh"]) == 1
        said = capsys.readouterr().err
        assert re.fullmatch(r"nmt.system.scheduler: qsub: cannot be run \(.*\); correct it or the PATH\n", said)


def test_the_exit_code_of_another_job_may_be_removed_meanwhile(folder: Path) -> None:
    """Snakemake checks jobs while it submits others; here the file is gone before its date is read."""
    write_jobscript(folder, TRAIN)
    (folder / FOLDER).mkdir(parents=True)
    (folder / FOLDER / "5.exit").symlink_to("nowhere")
    submitted(folder, "pbs")


@pytest.mark.parametrize("quick", [False, True])
def test_the_exit_code_of_an_earlier_job_is_not_this_ones(folder: Path, quick: bool) -> None:
    """That of a job which ended before its number was known is."""
    write_jobscript(folder, TRAIN)
    code = folder / FOLDER / "4711.exit"
    code.parent.mkdir(parents=True)
    code.write_text("1")
    os.utime(code, (1, 1))
    if quick:
        with open(folder / "programs" / "qsub", "a") as script:
            script.write(f"echo 0 > {code}\n")
    submitted(folder, "pbs" if quick else "grid_engine")
    assert code.exists() == quick


def test_a_slurm_that_is_missing_or_does_not_answer_is_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(UserError, match=r"slurm: sinfo fails here \(No such file or directory\); start"):
        check_slurm()
    (folder / "sinfo").write_text("#!/bin/sh\necho sinfo: no configuration >&2; echo no controller >&2; exit 1\n")
    (folder / "sinfo").chmod(0o755)
    with pytest.raises(UserError, match=r"slurm: sinfo fails here \(no controller\); start the workflow where jobs"):
        check_slurm()
    (folder / "sinfo").write_text("#!/bin/sh\n")
    check_slurm()
    (folder / "sinfo").write_text(f"#!/bin/sh\nexec {shutil.which('sleep', path=os.defpath)} 60\n")
    monkeypatch.setattr(scheduler_module, "ANSWER_SECONDS", 0.1)
    with pytest.raises(UserError, match=r"slurm: sinfo fails here \(no answer within 0.1 seconds\); start"):
        check_slurm()
