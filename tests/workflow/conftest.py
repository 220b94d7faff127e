"""What several tests share: the smoke experiment, run once, and a stand-in for conda."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A tree in which the whole smoke experiment has been run; a test leaves it as it was."""
    tree = Tree(tmp_path_factory.mktemp("done"))
    words = ["--cores", "2", "--resources", "gpu=2", "network=1"]
    run = tree.snakemake(*words, configs=SMOKE)
    assert run.returncode == 0, run.stdout[-8000:]
    return tree


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
