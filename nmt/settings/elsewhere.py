"""The other experiments of config/, in the working directory and in the project.

No two share a folder of results, and each makes the targets in its own folders.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from nmt.settings.experiment import Experiment
from nmt.settings.project import PROJECT
from nmt.system.files import UserError

CONFIGS = Path("config")


class Known(NamedTuple):
    """An experiment: its file, its name and its folder of results."""

    file: str
    name: str
    results: str


def experiments() -> list[Known]:
    """The experiments whose files are in CONFIGS, by their own names and folders, which none inherits.

    A file of the working directory hides the project's of the same path. One that is no experiment is passed over.
    """
    import yaml

    files = {path.relative_to(root): path for root in (PROJECT, Path()) for path in (root / CONFIGS).rglob("*.yaml")}
    found = []
    for _, path in sorted(files.items()):
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        try:
            own = yaml.safe_load("\n".join(line for line in lines if line.startswith(("experiment:", "results:"))))
        except yaml.YAMLError:
            continue
        if own and isinstance(own.get("experiment"), str):
            found.append(Known(str(path), own["experiment"], str(own.get("results", f"results/{own['experiment']}"))))
    return found


def check_folders(experiment: Experiment, words: Iterable[str]) -> None:
    """UserError where the folder of results is another experiment's, or one of `words` is a path in such a folder."""
    known = experiments()
    for other in known:
        if other.results == experiment.results and other.name != experiment.name:
            raise UserError(
                f"config: results: {experiment.results} is the folder of the experiment {other.name} ({other.file}); "
                "name another"
            )
    owners = {folder: one for one in known for folder in (f"data/{one.name}", one.results)}
    own = (f"data/{experiment.name}", experiment.results)
    for word in words:
        around = (str(folder) for folder in PurePosixPath(word).parents)  # the innermost first
        folder = next((one for one in around if one in own or one in owners), None)
        if folder is not None and folder not in own:
            owner = owners[folder]
            raise UserError(
                f"{word}: of the experiment {owner.name}, and this one is {experiment.name}; give --configfile "
                f"{owner.file}"
            )
