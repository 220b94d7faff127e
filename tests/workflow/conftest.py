"""What several tests share: the smoke experiment, run once, and a stand-in for conda."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from filelock import FileLock

from tests.workflow.tree import SMOKE, Tree

STAND_IN = """\
#!/bin/sh
case "$*" in
  *info*) echo '{{"conda_prefix": "{folder}", "platform": "linux-64"}}' ;;
  *channel_priority*) echo '{{"get": {{"channel_priority": "strict"}}}}' ;;
  *"env create"*) while [ "$1" != --prefix ]; do shift; done; mkdir -p "$2/conda-meta" ;;
  *clean*) ;;
  *) echo 'conda 25.1.0' ;;
esac
"""


@pytest.fixture(scope="session", autouse=True)
def _lmplz(lmplz: Path) -> None:
    """Every tree takes lmplz over from the checkout."""


@pytest.fixture(scope="session")
def finished(for_all: Path) -> Path:
    """The folder of a tree in which the whole smoke experiment has been run; no test changes it."""
    folder, mark = for_all / "finished", for_all / "finished.mark"
    with FileLock(for_all / "finished.lock"):
        if not mark.exists():
            folder.mkdir()
            run = Tree(folder).snakemake("--cores", "2", "--resources", "gpu=2", "network=1", configs=SMOKE)
            assert run.returncode == 0, run.stdout[-8000:]
            mark.touch()
    return folder


@pytest.fixture(scope="session")
def done(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A copy of it, for this process; a test leaves it as it was."""
    folder = tmp_path_factory.mktemp("done") / "tree"
    shutil.copytree(finished, folder, symlinks=True)
    return Tree.at(folder)


@pytest.fixture(scope="session")
def conda(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a stand-in for conda; `used` in it lists the environments that jobs have activated."""
    folder = tmp_path_factory.mktemp("conda")
    program = folder / "bin/conda"
    program.parent.mkdir()
    program.write_text(STAND_IN.format(folder=folder))
    program.chmod(0o755)
    (folder / "bin/activate").write_text(f'echo "$1" >> {folder}/used\n')
    return folder
