"""The smoke experiment, run once for all tests that ask what is done after it."""

from __future__ import annotations

import pytest

from tests.workflow.tree import SMOKE, Tree


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A tree in which the whole smoke experiment has been run; a test leaves it as it was."""
    tree = Tree(tmp_path_factory.mktemp("done"))
    words = ["--cores", "2", "--resources", "gpu=2", "network=1"]
    run = tree.snakemake(*words, configs=SMOKE)
    assert run.returncode == 0, run.stdout[-8000:]
    return tree
