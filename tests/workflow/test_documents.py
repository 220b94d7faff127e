"""The Snakemake commands that the documents print are ones that Snakemake takes: each is planned as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.workflow.tree import ROOT, Tree, jobs

DOCUMENTS = ["README.md", "CONTRIBUTING.md", "Snakefile", "profiles/slurm/profile.yaml", "results/open/README.md"]
DOCUMENTS += [f"config/{name}.yaml" for name in ("wmt14", "open", "open-third", "open-hansard")]
# A command stands in a block (indented, or in a remark) or between backticks; a backslash continues it.
COMMAND = re.compile(r"^(?:    |#   )(snakemake (?:[^\\\n]|\\\n#?)*)|`(snakemake -[^`]*)`", re.MULTILINE)
EXPLANATION = re.compile(r" #|  +\S")  # in a block, after the command
NO_PLAN = {"--conda-create-envs-only", "--lint", "--report", "--unlock"}


def commands(text: str) -> list[list[str]]:
    """The words of each command in `text` that makes a plan."""
    found = []
    for block, inline in COMMAND.findall(text):
        command = inline or EXPLANATION.split(re.sub(r"\\\n[ #]*", "", block))[0]
        words = shlex.split(command.replace("TARGET", "all"))
        if not NO_PLAN.intersection(words):
            found.append(words[1:])
    return found


PRINTED = {document: commands((ROOT / document).read_text()) for document in DOCUMENTS}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return Tree(tmp_path_factory.mktemp("tree"))


def test_commands_are_found_in_every_form() -> None:
    text = "    snakemake -n all    # x\n#   snakemake -j 1 -- \\\n#     y\n`snakemake --lint`, `snakemake -j 2 z`."
    assert commands(text) == [["-n", "all"], ["-j", "1", "--", "y"], ["-j", "2", "z"]]
    assert all(PRINTED.values())


@pytest.mark.parametrize("words", sorted({tuple(words) for found in PRINTED.values() for words in found}), ids=" ".join)
def test_a_printed_command_is_planned(words: tuple[str, ...], tree: Tree, conda: Path) -> None:
    assert jobs(tree.snakemake("--dry-run", *words, configs=[], path=str(conda / "bin")))
