"""The profiles of clusters: Snakemake can plan every kind of experiment with their groups and partitions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.workflow.tree import ROOT, Tree

WORDS = "config/demo.yaml"
PIECES = "config/multi30k.yaml"
BYTE_PAIRS = "config/choi2017/wmt15-ende.yaml"


def plan(folder: Path, profile: str, config: str) -> str:
    """What Snakemake says in a dry run of an experiment of the project with one of its profiles."""
    words = ["--dry-run", "-s", str(ROOT / "Snakefile"), "--workflow-profile", str(ROOT / "profiles" / profile)]
    run = Tree.at(folder).snakemake(*words, configs=[str(ROOT / config)])
    assert run.returncode == 0, run.stdout[-2000:]
    return run.stdout


@pytest.mark.parametrize("config", [WORDS, PIECES, BYTE_PAIRS])
@pytest.mark.parametrize("profile", ["slurm", "cluster"])
def test_the_jobs_of_an_experiment_can_be_grouped(tmp_path: Path, profile: str, config: str) -> None:
    """A group is refused if one of its jobs waits for a job outside it that waits for another one of its jobs."""
    counts = dict(re.findall(r"^(\w+) +(\d+)$", plan(tmp_path, profile, config), re.MULTILINE))
    assert counts["select"] == counts["binarize"] == "1"


def test_the_profile_names_a_partition_for_every_rule_that_asks_for_a_gpu(tmp_path: Path) -> None:
    said = "".join(plan(tmp_path, "slurm", config) for config in (WORDS, BYTE_PAIRS))
    rules = re.findall(r"^ *rule (\w+):(?:\n .*)*?\n +resources: .*\bgpu=1\b", said, re.MULTILINE)
    profile = (ROOT / "profiles/slurm/profile.yaml").read_text()
    assert {*rules} == {*re.findall(r"^#   (\w+): \{slurm_partition: gpu\}$", profile, re.MULTILINE)}
