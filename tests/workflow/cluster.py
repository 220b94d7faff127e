"""A Slurm cluster of one node on the loopback address, for as long as a test needs it.

Authentication, controller and node are processes of this one, on free ports, with all their files in one folder. The
node says that it has two GPUs, and more cores and memory than the machine; nothing checks what jobs take of them.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
CLIENTS = ("sbatch", "srun", "scontrol", "squeue", "scancel", "sinfo")
Record = dict[str, str]  # what `scontrol show job` says of a job
SYSTEM = "/usr/sbin:/usr/local/sbin:/sbin"  # where daemons are, and not on every user's path
DEVICES = ("/dev/null", "/dev/zero")  # stand for GPUs: Slurm asks that they be devices
PATIENCE = 60.0

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SwitchType=switch/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=0
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MinJobAge=86400
KillWait=5
GresTypes=gpu
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=16 RealMemory=256000 Gres=gpu:2
PartitionName=cpu Nodes={host} Default=YES MaxTime=INFINITE PriorityTier=1
PartitionName=gpu Nodes={host} MaxTime=INFINITE PriorityTier=1
PartitionName=urgent Nodes={host} MaxTime=INFINITE PriorityTier=2
"""


def missing() -> list[str]:
    """The programs that a cluster needs and that are not installed."""
    return [name for name in (*DAEMONS, *CLIENTS) if find(name) is None]


def find(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:{SYSTEM}")


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """As a context manager, a running cluster; `environment` is what its clients need."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.host = socket.gethostname().split(".")[0]
        self.programs = folder / "programs"
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Cluster:
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def ask(self, *words: str) -> str:
        """What a Slurm command prints."""
        run = subprocess.run(
            words, env=os.environ | self.environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert run.returncode == 0, f"{' '.join(words)}: {run.stdout}{run.stderr}"
        return run.stdout

    def jobs(self) -> list[Record]:
        """Slurm's record of every job so far, in the order in which they were submitted."""
        lines = self.ask("scontrol", "--oneliner", "--details", "show", "jobs").split("\n")
        records = [
            dict(word.split("=", 1) for word in line.split() if "=" in word)
            for line in lines
            if line.startswith("JobId=")
        ]
        return sorted(records, key=lambda record: int(record["JobId"]))

    def _start(self) -> None:
        ports = free_ports(2)
        configuration = CONFIGURATION.format(
            host=self.host,
            controller_port=ports[0],
            node_port=ports[1],
            user=pwd.getpwuid(os.geteuid()).pw_name,
            folder=self.folder,
        )
        (self.folder / "slurm.conf").write_text(configuration)
        (self.folder / "gres.conf").write_text("".join(f"Name=gpu File={device}\n" for device in DEVICES))
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        self._wrap("srun")
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(128))
        names = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        self._run("munged", "--foreground", "--force", *(f"--{k}={self.folder}/munge.{v}" for k, v in names.items()))
        self._until(lambda: (self.folder / "munge.socket").exists(), "munged to listen")
        self._run("slurmctld", "-D", "-i")
        self._run("slurmd", "-D", "-N", self.host)
        self._until(lambda: self.state() == "idle", "the node to be idle")

    def state(self) -> str:
        """The node's state, "" while the controller does not answer."""
        command = ["sinfo", "--noheader", "--format=%T", "--partition=cpu"]
        run = subprocess.run(
            command, env=os.environ | self.environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        return run.stdout.strip()

    def _wrap(self, name: str) -> None:
        """A program in front of `name` that says where the configuration is.

        The executor's jobs call srun without any of the variables SLURM_*, as if it were in its usual place.
        """
        self.programs.mkdir()
        wrapper = self.programs / name
        wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {find(name)} "$@"\n')
        wrapper.chmod(0o755)

    def _run(self, name: str, *words: str) -> None:
        program = find(name)
        assert program is not None
        with open(self.folder / f"{name}.out", "wb") as said:
            process = subprocess.Popen(
                [program, *words], env=os.environ | self.environment, stdout=said, stderr=said, start_new_session=True
            )
        self._processes.append(process)

    def _until(self, done: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not done():
            ended = [process.args for process in self._processes if process.poll() is not None]
            said = {path.name: path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.out")}
            assert not ended, f"{ended}: {said}"
            assert time.monotonic() < end, f"waited for {what}: {said}"
            time.sleep(0.1)

    def _stop(self) -> None:
        """End what runs on the cluster, and then its processes, the last started first."""
        with suppress(AssertionError, subprocess.TimeoutExpired):
            self.ask("scancel", "--user", str(os.geteuid()))
            self._until(lambda: not self.ask("squeue", "--noheader"), "the end of the jobs")
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
