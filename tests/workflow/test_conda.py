"""The one conda environment: what names it, what it holds, and that a flag more or less reruns nothing.

Conda's channels are not asked; where conda is called a stand-in answers, whose environments are this one.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from subprocess import CompletedProcess
from textwrap import dedent

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.workflow.tree import ROOT, SMOKE, Tree, jobs

ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text())
SPECIFICATION = re.compile(r"([a-z0-9][a-z0-9._-]*)(?:=([0-9][0-9a-z.]*))?")  # what we write of conda's specifications
# where they differ from pip's
CONDA_NAMES = {
    "torch": "pytorch",
    "matplotlib": "matplotlib-base",
    "yaml": "pyyaml",
    "markdown_it": "markdown-it-py",
    "thot": "sil-thot",
}
WITH_PYTORCH = {"triton"}  # which conda-forge's pytorch brings where there is CUDA


def specifications() -> dict[str, str]:
    """The packages of environment.yml, each with its version, "" for any."""
    found = {}
    for line in ENVIRONMENT["dependencies"]:
        if isinstance(line, dict):  # what pip installs into it
            found |= {requirement.name: str(requirement.specifier) for requirement in map(Requirement, line["pip"])}
            continue
        parsed = SPECIFICATION.fullmatch(line)
        assert parsed is not None, line
        found[parsed[1]] = str(Version(parsed[2])) if parsed[2] else ""
    return {name: version.removeprefix("==") for name, version in found.items()}


def pins() -> dict[str, str]:
    """The versions of requirements.txt, by the names that conda has for the packages."""
    lines = [line for line in (ROOT / "requirements.txt").read_text().split("\n") if line and not line.startswith("#")]
    found = {}
    for requirement in map(Requirement, lines):
        name = canonicalize_name(requirement.name)
        found[CONDA_NAMES.get(name, name)] = str(requirement.specifier).removeprefix("==")
    return found


def imported() -> set[str]:
    """The packages that `nmt` imports, itself and Python's own left out."""
    names = set()
    for path in (ROOT / "nmt").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.split(".")[0])
    return names - set(sys.stdlib_module_names) - {"nmt"}


def rules() -> dict[str, str]:
    """The text of every rule that runs a command, by its name; one that a loop makes of tables is of all of them."""
    texts = "\n".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    found = {}
    for block in re.finditer(r"^( *)rule\b.*\n(\1 .*\n|\n)*", texts, re.MULTILINE):
        text = dedent(block[0])
        named = re.search(r'^rule (\w+):|^    name:\n        f"(.*)"$', text, re.MULTILINE)
        assert named is not None, text
        found[named[1] or named[2]] = text
    return found


def test_the_environment_has_what_pip_installs() -> None:
    environment, pinned = specifications(), pins()
    versions = {name: version for name, version in environment.items() if version and name != "python"}
    assert len(versions) >= 9
    assert versions == {name: pinned[name] for name in versions}
    assert set(environment) - set(versions) == {"python", "pip", "cxx-compiler"}
    assert ENVIRONMENT["channels"] == ["conda-forge", "nodefaults"]


def test_the_environment_has_what_the_steps_import() -> None:
    names = {CONDA_NAMES.get(name, name).replace("_", "-") for name in imported() - WITH_PYTORCH}
    assert "pytorch" in names
    assert names <= set(specifications())


@pytest.mark.parametrize("rule", rules())
def test_every_rule_names_the_environment_and_what_it_takes(rule: str) -> None:
    text = rules()[rule]
    assert text.count('    conda:\n        "../../environment.yml"\n') == 1
    line = r"        \*\*growing\(mem_mb=\d+, runtime=\d+\),"
    assert len(re.findall(f"^ *{line}$", text, re.MULTILINE)) == 1
    assert "{threads}" not in text or re.search("^ *threads: ", text, re.MULTILINE)


def test_with_conda_and_without_it_the_same_is_up_to_date(tmp_path: Path, conda: Path) -> None:
    (tmp_path / "tree").mkdir()
    tree = Tree(tmp_path / "tree")
    with_it, without = "results/smoke/figure1.png", "data/smoke/extracted/toy-dev-1.en"

    def snakemake(*words: str) -> CompletedProcess[str]:
        return tree.snakemake("--configfile", *SMOKE, *words, configs=[], path=str(conda / "bin"))

    run = snakemake("--cores", "2", "--use-conda", with_it)
    assert run.returncode == 0, run.stdout
    (environment,) = set((conda / "used").read_text().split())
    assert Path(environment).parent == tree.folder / ".snakemake/conda"
    run = snakemake("--cores", "2", without)
    assert run.returncode == 0, run.stdout
    for options in (["--dry-run"], ["--dry-run", "--use-conda"]):
        assert jobs(snakemake(*options, with_it, without)) == []
