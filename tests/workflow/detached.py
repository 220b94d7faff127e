"""A stand-in for a cluster: each job is a process that outlives the Snakemake that submitted it.

While there is a file `hold`, jobs wait in the queue.
"""

from __future__ import annotations

from pathlib import Path

SUBMIT = """\
#!/bin/sh
job='while test -e hold; do sleep 0.1; done; bash "$1" > job.log 2>&1; echo $? > job.code'
setsid sh -c "$job" - "$1" > /dev/null 2>&1 &
echo 1
touch submitted
"""
STATUS = """\
#!/bin/sh
case $(cat job.code 2> /dev/null) in '') echo running ;; 0) echo success ;; *) echo failed ;; esac
"""


def options(folder: Path) -> list[str]:
    """Options with which Snakemake, in `folder`, submits one job at a time.

    The submission leaves the file `submitted` there, and the job `job.log` and `job.code`.
    """
    for name, script in (("submit", SUBMIT), ("status", STATUS)):
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    commands = ["--cluster-generic-submit-cmd", "./submit", "--cluster-generic-status-cmd", "./status"]
    return ["--executor", "cluster-generic", "--jobs", "1", "--seconds-between-status-checks", "1", *commands]
