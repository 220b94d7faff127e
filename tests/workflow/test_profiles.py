"""The profiles of clusters: Snakemake can plan with their groups; Slurm's names the rules that need a GPU or days."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.workflow.tree import ROOT, Tree

# Experiments on words, on pieces and on byte pairs, the last one of the second paper; and Moses.
PLANS = [
    ("config/demo.yaml",),
    ("config/multi30k.yaml",),
    ("config/choi2017/wmt15-ende.yaml",),
    ("config/demo.yaml", "config/moses.yaml"),
]
SLURM, CLUSTER = (ROOT / f"profiles/{name}/profile.yaml" for name in ("slurm", "cluster"))
TWO_DAYS = 2 * 24 * 60  # minutes


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What Snakemake says in a dry run of each of `PLANS` with Slurm's profile."""
    tree = Tree.at(tmp_path_factory.mktemp("tree"))
    words = ["--dry-run", "-s", str(ROOT / "Snakefile"), "--workflow-profile", str(SLURM.parent)]
    runs = [tree.snakemake(*words, configs=[str(ROOT / config) for config in configs]) for configs in PLANS]
    return [run.stdout for run in runs]


@pytest.fixture(scope="module")
def resources(planned: list[str]) -> dict[str, str]:
    """What the job of each rule asks for at its first attempt."""
    return dict(re.findall(r"^ *rule (\w+):(?:\n .*)*?\n +resources: (.*)$", "".join(planned), re.MULTILINE))


def in_comments(setting: str) -> set[str]:
    """The rules that the comments of Slurm's profile give this setting."""
    return {*re.findall(rf"^#   (\w+): \{{{setting}\}}$", SLURM.read_text(), re.MULTILINE)}


@pytest.mark.parametrize("place", range(len(PLANS)))
def test_the_jobs_of_an_experiment_can_be_grouped(planned: list[str], place: int) -> None:
    """A group is refused if one of its jobs waits for a job outside it that waits for another one of its jobs."""
    counts = dict(re.findall(r"^(\w+) +(\d+)$", planned[place], re.MULTILINE))
    assert counts.get("select") == counts.get("binarize") == "1", planned[place][-2000:]


def test_both_profiles_have_the_same_groups() -> None:
    slurm, cluster = (yaml.safe_load(profile.read_text()) for profile in (SLURM, CLUSTER))
    for setting in ("groups", "group-components"):
        assert slurm[setting] == cluster[setting]


def test_the_profile_names_a_partition_for_every_rule_that_asks_for_a_gpu(resources: dict[str, str]) -> None:
    assert {rule for rule, asked in resources.items() if "gpu=1" in asked} == in_comments("slurm_partition: gpu")


def test_the_profile_names_every_rule_that_may_ask_for_more_than_two_days(resources: dict[str, str]) -> None:
    """Each attempt asks for more, as often as the profile repeats a job."""
    [retries] = re.findall(r"^retries: (\d+)$", SLURM.read_text(), re.MULTILINE)
    first = {rule: re.search(r"\bruntime=(\d+)", asked) for rule, asked in resources.items()}
    long = {rule for rule, minutes in first.items() if minutes and int(minutes[1]) * (1 + int(retries)) > TWO_DAYS}
    assert long == {"train", *in_comments(f"runtime: {TWO_DAYS}")}
