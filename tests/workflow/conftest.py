"""What several tests share: the smoke experiment, run once, and a conda for plans."""

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


@pytest.fixture(scope="session")
def planning_conda(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a stand-in for conda, which answers what Snakemake asks of it before it plans."""
    program = tmp_path_factory.mktemp("stand-in") / "conda"
    program.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        '  *info*) echo \'{"conda_prefix": "/conda", "platform": "linux-64"}\' ;;\n'
        '  *channel_priority*) echo \'{"get": {"channel_priority": "strict"}}\' ;;\n'
        "  *) echo 'conda 25.1.0' ;;\n"
        "esac\n"
    )
    program.chmod(0o755)
    return str(program.parent)
