"""The one conda environment: what names it, what it holds, and that a flag more or less reruns nothing.

conda's channels are not asked. A stand-in for conda makes environments of exactly the packages that the file names; the
smoke experiment of all tests runs in one.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.environment import CONDA_NAMES, NO_PACKAGES, specifications
from tests.workflow.tree import ROOT

FILE = ROOT / "environment.yml"
WITH_PYTORCH = {"triton"}  # which conda-forge's pytorch brings where there is CUDA


def pins() -> dict[str, str]:
    """The versions of requirements.txt."""
    lines = [line for line in (ROOT / "requirements.txt").read_text().split("\n") if line and not line.startswith("#")]
    return {canonicalize_name(one.name): str(one.specifier) for one in map(Requirement, lines)}


def named() -> dict[str, str]:
    """The packages of environment.yml, by their names in the package index, each with its version, "" for any."""
    return {CONDA_NAMES.get(one.name, one.name): str(one.specifier) for one in specifications(FILE)}


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
    """The text of every rule that runs a command, by its name; one that a loop makes is of all of them.

    A rule that repeats another, `use rule`, has what that one has.
    """
    texts = "\n".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    found = {}
    for block in re.finditer(r"^( *)rule\b.*\n(\1 .*\n|\n)*", texts, re.MULTILINE):
        text = dedent(block[0])
        named = re.search(r'^rule (\w+):|^    name:\n        f"(.*)"$', text, re.MULTILINE)
        assert named is not None, text
        found[named[1] or named[2]] = text
    return found


def test_the_environment_has_what_pip_installs() -> None:
    environment, pinned = named(), pins()
    versions = {canonicalize_name(name): one for name, one in environment.items() if one and name != "python"}
    assert len(versions) >= 9
    assert versions == {name: pinned[name] for name in versions}
    assert {name for name, one in environment.items() if not one} == {"pip", *NO_PACKAGES} - {"python"}
    assert yaml.safe_load(FILE.read_text())["channels"] == ["conda-forge"]


def test_the_environment_names_what_the_steps_import() -> None:
    owners = packages_distributions()
    names = {canonicalize_name(owners[name][0]) for name in imported() - WITH_PYTORCH}
    assert "torch" in names
    assert names <= {canonicalize_name(name) for name in named()}


def test_the_whole_experiment_ran_in_the_environment_alone(finished: Path, for_all: Path) -> None:
    used = (for_all / "conda/used").read_text().split()
    (environment,) = set(used)
    assert Path(environment).parent == finished / ".snakemake/conda"
    logs = [path for path in (finished / "logs").rglob("*.log") if "lmplz" not in path.name]
    assert len(used) >= len(logs) > 50
    code = "import importlib.metadata; print(*(one.name for one in importlib.metadata.distributions()))"
    run = subprocess.run([f"{environment}/bin/python", "-Pc", code], capture_output=True, text=True, check=True)
    installed = {canonicalize_name(name) for name in run.stdout.split()}
    assert {canonicalize_name(name) for name in named()} - NO_PACKAGES <= installed
    assert not installed & {"nmt", "snakemake", "pytest", "pandas", "tensorboard"}


@pytest.mark.parametrize("rule", rules())
def test_every_rule_names_the_environment_and_what_it_takes(rule: str) -> None:
    text = rules()[rule]
    assert text.count('    conda:\n        "../../environment.yml"\n') == 1
    line = r"        \*\*growing\(mem_mb=\d+, runtime=\d+(, gpu=1)?\),"
    local = "    localrule: True\n" in text  # it runs where Snakemake does, and once
    assert sum(1 for _ in re.finditer(f"^ *{line}$", text, re.MULTILINE)) == (0 if local else 1)
    assert "{threads}" not in text or re.search("^ *threads: ", text, re.MULTILINE)
