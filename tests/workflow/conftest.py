"""What several tests share: the smoke experiment, run once, and a stand-in for conda."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from tests.workflow.tree import ROOT, SMOKE, Tree

STAND_IN = """\
#!/bin/sh
case "$*" in
  *info*) echo '{{"conda_prefix": "{folder}", "platform": "linux-64"}}' ;;
  *channel_priority*) echo '{{"get": {{"channel_priority": "strict"}}}}' ;;
  *"env create"*)
    while [ $# -gt 0 ]; do
      case "$1" in --file) file=$2 ;; --prefix) prefix=$2 ;; esac
      shift
    done
    PYTHONPATH={root} {python} -m tests.environment "$file" "$prefix" && mkdir "$prefix/conda-meta" ;;
  *clean*) ;;
  *) echo 'conda 26.7.0' ;;
esac
"""
ACTIVATE = """\
echo "$1" >> {folder}/used
export PATH="$1/bin:/usr/local/bin:/usr/bin:/bin"
"""


@pytest.fixture(scope="session", autouse=True)
def _lmplz(lmplz: Path) -> None:
    """Every tree takes lmplz over from the checkout."""


@pytest.fixture(scope="session")
def finished(for_all: Path) -> Path:
    """The folder of a tree in which the whole smoke experiment has been run with `conda`; no test changes it.

    What Snakemake said is beside it, in finished.txt.
    """
    folder, mark = for_all / "finished", for_all / "finished.mark"
    with FileLock(for_all / "finished.lock"):
        if not mark.exists():
            folder.mkdir()
            path = str(make_conda(for_all / "conda") / "bin")
            words = ["--use-conda", "--logger", "nmt", "--cores", "2", "--resources", "gpu=2", "network=1"]
            run = Tree(folder).snakemake(*words, configs=SMOKE, path=path)
            (for_all / "finished.txt").write_text(run.stdout)
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
    """The folder of a stand-in for conda."""
    return make_conda(tmp_path_factory.mktemp("conda"))


def make_conda(folder: Path) -> Path:
    """Make a stand-in for conda in `folder`; `used` in it lists the environments that jobs have activated.

    Its environments hold the packages that the environment file names, and nothing else (tests/environment.py).
    """
    program = folder / "bin/conda"
    program.parent.mkdir(parents=True)
    program.write_text(STAND_IN.format(folder=folder, root=ROOT, python=sys.executable))
    program.chmod(0o755)
    (folder / "bin/activate").write_text(ACTIVATE.format(folder=folder))
    return folder
