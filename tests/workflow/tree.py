"""A copy of the project in which Snakemake runs, and what a dry run in it says."""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
SMOKE = ["tests/workflow/smoke.yaml"]
VARIANTS = {"RNNencdec-30", "RNNsearch-50", "RNNsearch-50star"}  # of the smoke experiment
MARK = "nmt of the project"
Job = tuple[str, str]  # a rule and the variant it is for, "" for none

# Runs are forks of a process that has imported Snakemake already, and what every run of it imports.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["snakemake.cli", "snakemake.report.html_reporter", "smart_open", "yte"])


def mark(project: Tree) -> None:
    """Have each job print MARK to its log, which tells the project's package from the installed one."""
    entry = project.folder / "nmt/__main__.py"
    entry.write_text(entry.read_text().replace("import sys\n", f"import sys\n\nprint({MARK!r}, file=sys.stderr)\n", 1))


class Tree:
    """A copy of the project in which Snakemake can be run and files can be edited."""

    @classmethod
    def at(cls, folder: Path) -> Tree:
        """The copy that is in `folder` already."""
        tree = cls.__new__(cls)
        tree.folder = folder
        return tree

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in ("Snakefile", "environment.yml", "config", "nmt", "profiles", "workflow"):
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
            copy(ROOT / part, folder / part)
        for part in ("data", "tests/workflow"):
            (folder / part).mkdir(parents=True)
        for registry in (ROOT / "data").glob("*.tsv"):
            shutil.copy2(registry, folder / "data")
        shutil.copy2(ROOT / "tests/workflow/smoke.yaml", folder / "tests/workflow")
        if (ROOT / "data/tools/lmplz").exists():
            shutil.copytree(ROOT / "data/tools", folder / "data/tools", symlinks=True)

    def start(self, *words: str, configs: list[str], path: str = "", said: Path | None = None) -> subprocess.Popen[str]:
        """Start Snakemake in the copy, in a process group of its own.

        Standard error goes to standard output, and both to the file `said` where one is named.
        """
        with open(said or os.devnull, "w") as file:
            return subprocess.Popen(
                [sys.executable, "-m", "snakemake", *arguments(words, configs)],
                cwd=self.folder,
                env=os.environ | variables(path),
                text=True,
                stdout=file if said else subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def snakemake(
        self, *words: str, configs: list[str], path: str = "", run: Callable[..., None] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run Snakemake in the copy to its end, in a fork that calls `in_fork`, or `run` in its place."""
        command, environment = arguments(words, configs), os.environ | variables(path)
        with tempfile.NamedTemporaryFile() as said:
            process = FORKS.Process(target=run or in_fork, args=(command, self.folder, environment, said.name))
            process.start()
            try:
                process.join(PATIENCE)
            finally:
                if process.is_alive():
                    os.killpg(process.pid or 0, signal.SIGKILL)
                process.join()
            return subprocess.CompletedProcess(command, process.exitcode or 0, Path(said.name).read_text())

    def snakemake_beside(
        self, act: Callable[[Callable[[], bool]], None], *words: str, configs: list[str], path: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run Snakemake in the copy to its end, and `act` beside it, which is given whether Snakemake still runs."""
        with self.start(*words, configs=configs, path=path) as process, ThreadPoolExecutor() as pool:
            communicated = pool.submit(process.communicate)
            try:
                act(lambda: process.poll() is None)
                said, _ = communicated.result(timeout=PATIENCE)
            except BaseException:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                print(communicated.result()[0][-8000:])
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, said)

    def nmt(self, *words: str) -> str:
        """What `nmt WORDS` prints in the copy."""
        command = [sys.executable, "-m", "nmt", *words]
        run = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def plan(self, *overlays: str, options: tuple[str, ...] = (), path: str = "") -> list[Job]:
        """The jobs that a dry run of the smoke experiment under further `overlays` lists."""
        configs = list(SMOKE)
        for number, overlay in enumerate(overlays):
            configs.append(f"overlay{number}.yaml")
            (self.folder / configs[-1]).write_text(overlay)
        return jobs(self.snakemake("--dry-run", *options, configs=configs, path=path))

    @contextmanager
    def edited(self, name: str, old: str, new: str) -> Iterator[None]:
        """`name` with `old` replaced, as long as the context lasts."""
        text = (self.folder / name).read_text()
        assert old in text
        with self.rewritten(name, text.replace(old, new)):
            yield

    @contextmanager
    def rewritten(self, name: str, text: str) -> Iterator[None]:
        """`name` with the content `text`, as long as the context lasts."""
        file = self.folder / name
        before = file.read_text()
        file.write_text(text)
        try:
            yield
        finally:
            file.write_text(before)


def arguments(words: Sequence[str], configs: Sequence[str]) -> list[str]:
    """The words after `snakemake`."""
    return [*words, *(["--configfile", *configs, "--"] if configs else [])]


def variables(path: str) -> dict[str, str]:
    """What Snakemake's environment has of its own: its programs, those in `path` first, and modules compiled once.

    Python is told not to look for modules in the current folder, as some users do.
    """
    programs = os.pathsep.join([path, str(Path(sys.executable).parent), os.environ["PATH"]])
    return {"PATH": programs, "PYTHONDONTWRITEBYTECODE": "", "PYTHONSAFEPATH": "1"}


def in_fork(words: list[str], folder: Path, environment: dict[str, str], said: str) -> None:
    """Be `python -m snakemake WORDS` in a folder and an environment; what it says goes to the file `said`."""
    os.setsid()
    file = os.open(said, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path.insert(0, str(folder))
    sys.argv[1:] = words
    from snakemake.cli import main

    main(words)


def jobs(dry_run: subprocess.CompletedProcess[str]) -> list[Job]:
    """The jobs in the output of a dry run, but `all` and `provenance`, which are there whenever another one is."""
    assert dry_run.returncode == 0, dry_run.stdout
    found = []
    for block in re.split(r"\n(?=\[|(?:local)?rule )", dry_run.stdout):
        rule = re.search(r"^(?:local)?rule (\w+):", block, re.MULTILINE)
        variant = re.search(r"wildcards:.*\bvariant=([^,\n]+)", block)
        if rule is not None and rule[1] not in ("all", "provenance"):
            found.append((rule[1], variant[1] if variant else ""))
    if not found:
        assert "Nothing to be done" in dry_run.stdout
    return found
