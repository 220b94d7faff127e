"""A copy of the project in which Snakemake runs, and what a dry run in it says."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SMOKE = ["tests/workflow/smoke.yaml"]
VARIANTS = {"RNNencdec-30", "RNNsearch-30", "RNNencdec-50", "RNNsearch-50", "RNNsearch-50star"}
Job = tuple[str, str]  # a rule and the variant it is for, "" for none


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
        environment = os.environ | {
            "PATH": os.pathsep.join([path, str(Path(sys.executable).parent), os.environ["PATH"]])
        }
        options = ["--configfile", *configs, "--"] if configs else []
        command = [sys.executable, "-m", "snakemake", *words, *options]
        with open(said or os.devnull, "w") as file:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment,
                text=True,
                stdout=file if said else subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def snakemake(self, *words: str, configs: list[str], path: str = "") -> subprocess.CompletedProcess[str]:
        """Run Snakemake in the copy to its end."""
        with self.start(*words, configs=configs, path=path) as process:
            try:
                said, _ = process.communicate(timeout=400)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, said)

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


def jobs(dry_run: subprocess.CompletedProcess[str]) -> list[Job]:
    """The jobs in the output of a dry run, `all` left out."""
    assert dry_run.returncode == 0, dry_run.stdout
    found = []
    for block in re.split(r"\n(?=\[|(?:local)?rule )", dry_run.stdout):
        rule = re.search(r"^(?:local)?rule (\w+):", block, re.MULTILINE)
        variant = re.search(r"wildcards:.*\bvariant=([^,\n]+)", block)
        if rule is not None and rule[1] != "all":
            found.append((rule[1], variant[1] if variant else ""))
    if not found:
        assert "Nothing to be done" in dry_run.stdout
    return found
