"""The profiles of clusters: Snakemake can plan every kind of experiment with their groups."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.workflow.tree import ROOT, Tree

WORDS = "config/demo.yaml"
PIECES = "config/multi30k.yaml"
BYTE_PAIRS = "config/choi2017/wmt15-ende.yaml"


@pytest.mark.parametrize("config", [WORDS, PIECES, BYTE_PAIRS])
@pytest.mark.parametrize("profile", ["slurm", "cluster"])
def test_the_jobs_of_an_experiment_can_be_grouped(tmp_path: Path, profile: str, config: str) -> None:
    """A group is refused if one of its jobs waits for a job outside it that waits for another one of its jobs."""
    words = ["--dry-run", "-s", str(ROOT / "Snakefile"), "--workflow-profile", str(ROOT / "profiles" / profile)]
    planned = Tree.at(tmp_path).snakemake(*words, configs=[str(ROOT / config)])
    assert planned.returncode == 0, planned.stdout[-2000:]
    counts = dict(re.findall(r"^(\w+) +(\d+)$", planned.stdout, re.MULTILINE))
    assert counts["select"] == counts["binarize"] == "1"
