"""A virtual environment of chosen packages and what they require, linked from the one that runs the tests.

    python -m tests.environment ENVIRONMENT_YML FOLDER

makes that of a conda environment file. Nothing is downloaded, and nothing else of this environment can be imported.
"""

from __future__ import annotations

import re
import sys
import sysconfig
import venv
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# where they differ from pip's
CONDA_NAMES = {"pytorch": "torch"}
NO_PACKAGES = {
    "python",
    "cmake",
    "cxx-compiler",
    "libboost-devel",
    "make",
    "perl",
    "zlib",
}  # which a virtual environment takes from the system


def specifications(environment: Path) -> list[Requirement]:
    """What a conda environment file names, as requirements of pip's, under conda's names."""
    found = []
    for line in yaml.safe_load(environment.read_text())["dependencies"]:
        if isinstance(line, dict):  # what pip installs into it
            found += [Requirement(requirement) for requirement in line["pip"]]
        else:
            found.append(Requirement(re.sub("(?<![=<>])=(?!=)", "==", line)))
    return found


def distributions(requirements: Iterable[Requirement]) -> list[Distribution]:
    """The installed packages that `requirements` name, and those that these require."""
    found: dict[str, Distribution] = {}
    waiting = [(requirement.name, extra) for requirement in requirements for extra in ("", *requirement.extras)]
    seen = set()
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        found[canonicalize_name(name)] = package = distribution(name)
        for line in package.requires or []:
            required = Requirement(line)
            if required.marker is None or required.marker.evaluate({"extra": extra}):
                waiting += [(required.name, one) for one in ("", *required.extras)]
    return list(found.values())


def make(folder: Path, requirements: Iterable[Requirement]) -> Path:
    """Make the environment in `folder`, and return its Python."""
    venv.create(folder, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    for package in distributions(requirements):
        for name in {file.parts[0] for file in package.files or []} - {"..", "__pycache__"}:
            link = site / name
            if not link.exists():
                link.symlink_to(Path(str(package.locate_file(name))))
    return folder / "bin/python"


if __name__ == "__main__":
    wanted = [one for one in specifications(Path(sys.argv[1])) if one.name not in NO_PACKAGES]
    for one in wanted:
        one.name = CONDA_NAMES.get(one.name, one.name)
    make(Path(sys.argv[2]), wanted)
