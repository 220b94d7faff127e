"""A Grid Engine of one node on the loopback address, for as long as a test needs it, of Debian's packages.

Its two daemons are processes of this one, on free ports, with all their files in one folder. The node says that it has
two GPUs, and more slots and memory than the machine; nothing checks what jobs take of them.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.workflow.cluster import free_ports

PROGRAMS = Path("/usr/lib/gridengine")  # of gridengine-master, -exec and -client
DATA = Path("/usr/share/gridengine")  # of gridengine-common
NEEDED = (
    "sge_qmaster",
    "sge_execd",
    "sge_shepherd",
    "spoolinit",
    "spooldefaults.bin",
    "qconf",
    "qsub",
    "qstat",
    "qdel",
)
PATIENCE = 60.0

BOOTSTRAP = """\
admin_user none
default_domain none
ignore_fqdn true
spooling_method classic
spooling_lib libspoolc
spooling_params {folder}/default/common;{folder}/spool
binary_path {programs}
qmaster_spool_dir {folder}/spool
security_mode none
listener_threads 2
worker_threads 2
scheduler_threads 1
jvm_threads 0
"""
CONFIGURATION = {
    "execd_spool_dir": "{folder}/execd",
    "min_uid": "0",
    "min_gid": "0",
    "load_report_time": "00:00:01",
    "mailer": "/bin/true",
}
COMPLEX = ("ram ram MEMORY <= YES YES 0 0", "gpu gpu INT <= YES YES 0 0")
PARALLEL = """\
pe_name smp
slots 999
user_lists NONE
xuser_lists NONE
start_proc_args NONE
stop_proc_args NONE
allocation_rule $pe_slots
control_slaves FALSE
job_is_first_task TRUE
urgency_slots min
accounting_summary FALSE
qsort_args NONE
"""
HOST = """\
hostname {host}
load_scaling NONE
complex_values gpu=2,ram=256G,slots=16
user_lists NONE
xuser_lists NONE
projects NONE
xprojects NONE
usage_scaling NONE
report_variables NONE
"""
QUEUE = {
    "qname": "all.q",
    "hostlist": "{host}",
    "pe_list": "smp",
    "slots": "16",
    "shell": "/bin/sh",
    "load_thresholds": "NONE",
}
SCHEDULER = {"schedule_interval": "0:0:1", "flush_submit_sec": "1", "flush_finish_sec": "1"}


def missing() -> list[str]:
    """The programs that a Grid Engine needs and that are not installed."""
    return [name for name in NEEDED if not (PROGRAMS / name).exists()]


class GridEngine:
    """As a context manager, a running cluster; `environment` is what its clients need."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.host = socket.gethostname().split(".")[0]
        master, node = free_ports(2)
        self.environment = {
            "SGE_ROOT": str(folder),
            "SGE_CELL": "default",
            "SGE_QMASTER_PORT": str(master),
            "SGE_EXECD_PORT": str(node),
            "SGE_ND": "1",  # its daemons stay in the foreground
            "LD_LIBRARY_PATH": f"{PROGRAMS}:{os.environ.get('LD_LIBRARY_PATH', '')}",
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        }
        self._daemons: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> GridEngine:
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def ask(self, *words: str) -> str:
        """What a command of Grid Engine prints."""
        run = self._run(*words)
        assert run.returncode == 0, f"{' '.join(words)}: {run.stdout}{run.stderr}"
        return run.stdout

    def jobs(self) -> dict[str, str]:
        """Number -> name of the jobs that are not over; qstat cuts names, unless it is asked for all."""
        text = self.ask("qstat", "-r")
        numbers = re.findall(r"^ +(\d+) ", text, re.MULTILINE)
        return dict(zip(numbers, re.findall(r"Full jobname: +(\S+)", text), strict=True))

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | self.environment
        return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)

    def _start(self) -> None:
        common, resources = self.folder / "default/common", DATA / "util/resources"
        for folder in (common, self.folder / "spool/job_scripts", self.folder / "execd"):
            folder.mkdir(parents=True)
        (self.folder / "util").symlink_to(DATA / "util")
        (common / "bootstrap").write_text(BOOTSTRAP.format(folder=self.folder, programs=PROGRAMS))
        (common / "act_qmaster").write_text(f"{self.host}\n")
        (common / "host_aliases").write_text(f"{self.host} localhost\n")
        self.ask("spoolinit", "classic", "libspoolc", f"{common};{self.folder}/spool", "init")
        configuration = self._changed((DATA / "default-configuration").read_text(), CONFIGURATION)
        for kind, value in (
            ("configuration", configuration),
            ("managers", "root"),
            ("operators", "root"),
            ("complexes", resources / "centry"),
            ("usersets", resources / "usersets"),
            ("adminhosts", self.host),
        ):
            self.ask("spooldefaults.bin", kind, str(value))
        self._daemon("sge_qmaster")
        self._until(lambda: self._run("qconf", "-sconf").returncode == 0, "the master to answer")
        self.ask("qconf", "-as", self.host)
        complexes = [line for line in self.ask("qconf", "-sc").split("\n") if not line.startswith("#")]
        self.ask("qconf", "-Mc", str(self._written("\n".join([*complexes, *COMPLEX, ""]))))
        self.ask("qconf", "-Msconf", str(self._changed(self.ask("qconf", "-ssconf"), SCHEDULER)))
        self.ask("qconf", "-Ap", str(self._written(PARALLEL)))
        self.ask("qconf", "-Ae", str(self._written(HOST.format(host=self.host))))
        self.ask("qconf", "-Aq", str(self._changed(self.ask("qconf", "-sq"), QUEUE)))
        self._daemon("sge_execd")
        self._until(lambda: "lx-" in self.ask("qhost", "-h", self.host), "the node to report")

    def _changed(self, text: str, values: dict[str, str]) -> Path:
        """A file with a configuration in which the lines of `values` are replaced."""
        lines = []
        for line in text.split("\n"):
            name = line.split(" ")[0].split("\t")[0]
            lines.append(
                f"{name} {values[name]}".format(folder=self.folder, host=self.host) if name in values else line
            )
        return self._written("\n".join(lines))

    def _written(self, text: str) -> Path:
        path = self.folder / "given"
        path.write_text(text)
        return path

    def _daemon(self, name: str) -> None:
        with open(self.folder / f"{name}.out", "wb") as said:
            words, environment = [str(PROGRAMS / name)], os.environ | self.environment
            self._daemons.append(
                subprocess.Popen(words, env=environment, stdout=said, stderr=said, start_new_session=True)
            )

    def _until(self, done: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not done():
            said = {path.name: path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.out")}
            assert all(daemon.poll() is None for daemon in self._daemons), said
            assert time.monotonic() < end, f"waited for {what}: {said}"
            time.sleep(0.2)

    def _stop(self) -> None:
        """End what runs on the cluster, and then its daemons, the last started first."""
        if self._daemons:
            self._run("qdel", "-f", "-u", "*")
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
