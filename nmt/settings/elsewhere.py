"""The other experiments: those of config/, in the working directory and in the project, and those that were run here.

Their folders of results are separate, and each experiment makes only what is in its own.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from nmt.settings.experiment import Experiment
from nmt.settings.extends import OWN
from nmt.settings.ownership import recorded_runs, results_of
from nmt.settings.project import PROJECT
from nmt.system.errors import UserError

CONFIGS = Path("config")
# A line with a value of its own: not empty, and not continued on the next line.
PLAIN_LINE = re.compile(rf"^(?:{'|'.join(OWN)}): +[^\s>|*&!{{\['\"#].*$(?!\n[ \t])", re.MULTILINE)
# The paper's results are files of this folder and of its `index`; the folders of all other experiments lie beside them.
RESULTS, INDEX = "results", "results/index"

# Options of Snakemake that are followed by a file, not by a target.
OPTIONS = ("--report", "--report-stylesheet", "--archive", "--configfile")


class Known(NamedTuple):
    """An experiment: its files, its name, its folder of results, and of these two, KEY=VALUE where no file gives it."""

    files: tuple[str, ...]
    name: str
    results: str
    settings: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What stands for it on the command line, after --configfile."""
        return shlex.join([*self.files, *(["--config", *self.settings] if self.settings else [])])


def experiments() -> list[Known]:
    """The experiments whose files are in CONFIGS or were run, by their own names and folders, which none inherits.

    A file of the working directory hides the project's of the same path. A file that is no experiment is skipped, as is
    one that has another name now. Of a run, what its command line had counts, too.
    """
    paths = ((root, path) for root in (PROJECT, Path()) for path in (root / CONFIGS).rglob("*.yaml"))
    files = {path.relative_to(root): path for root, path in paths if os.path.isfile(path)}
    here = [_read(path) for _, path in sorted(files.items())]
    found = [one for one in here if one]
    for name, run in recorded_runs().items():
        own = [one for one in (_read(Path(file)) for file in run.files) if one and one.name == name]
        is_more = run.settings or len(run.files) > 1  # than `own` says
        if is_more and (own or "experiment" in run.settings) and all(map(os.path.isfile, run.files)):
            results = run.settings.get("results") or results_of(run.files, name)
            settings = tuple(f"{key}={value}" for key, value in run.settings.items())
            own.append(Known(tuple(run.files), name, results, settings))
        known = {(one.name, one.results) for one in found}
        found.extend(one for one in own if (one.name, one.results) not in known)
    return found


def _read(path: Path) -> Known | None:
    """The experiment of a file; None where it is none or cannot be read."""
    if not os.path.isfile(path):
        return None
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return None
    # YAML has many ways to write these two settings, but it takes a tenth of the time to read only plain lines.
    own = _parsed("\n".join(PLAIN_LINE.findall(text)), path)
    if not all(key in own for key in OWN if re.search(rf"\b{key}[\"']?\s*:", text)):
        own = _parsed(text, path)
    name = own.get("experiment")
    results = os.path.expanduser(str(own.get("results", f"results/{name}")))
    return Known((str(path),), name, results) if isinstance(name, str) and results else None


def _parsed(text: str, path: Path) -> Mapping[str, Any]:
    """The settings in the text of a file; none where it is not YAML."""
    from nmt.settings.strict import parse  # imports PyYAML

    with suppress(UserError):
        settings = parse(text, str(path))
        if isinstance(settings, Mapping):
            return settings
    return {}


def check_folders(experiment: Experiment, words: Iterable[str]) -> None:
    """UserError where the folder of results is, holds or lies in another's, or one of `words` lies in another's."""
    known = experiments()
    mine = experiment.results
    for other in known:
        theirs = other.results
        holds, inside = _is_in(theirs, mine), _is_in(mine, theirs)
        if other.name != experiment.name and (holds or inside):
            relation = "is" if holds and inside else "holds" if holds else "is in"
            raise UserError(
                f"config: results: {mine} {relation} the folder of the experiment {other.name} ({other.words}), "
                f"{theirs}; name another"
            )
    owners = {folder: one for one in known for folder in (f"data/{one.name}", one.results)}
    own = (f"data/{experiment.name}", experiment.results)
    for before, word in pairwise(["", *words]):
        if before in OPTIONS:
            continue
        path = PurePosixPath(word)
        around = [path, *(folder for folder in path.parents if _is_in(path.parent, folder))]  # the innermost first
        folder = next((one for one in map(str, around) if one in own or one in owners), None)
        if folder is not None and folder not in own:
            owner = owners[folder]
            if owner.name == experiment.name:
                raise UserError(f"{word}: not in the folder of results of this run, which is {experiment.results}")
            raise UserError(
                f"{word}: belongs to the experiment {owner.name}, but this one is {experiment.name}; give --configfile "
                f"{owner.words}"
            )


def check_report(experiment: Experiment, words: Iterable[str], files: Iterable[str]) -> None:
    """UserError where Snakemake's --report, one of `words`, would replace one of `files`, say <results>/index.html, or
    lie among the experiment's data or in a folder that is not there. The run itself makes the folder of results and
    its parents.
    """
    made = {os.path.realpath(file.replace("<results>", experiment.results)) for file in files}
    data, results = (Path(os.path.realpath(folder)) for folder in (f"data/{experiment.name}", experiment.results))
    for before, word in pairwise(["", *words]):
        option, _, value = word.partition("=")
        file = word if before == "--report" else value if option == "--report" else ""
        place = os.path.realpath(file)
        if file and (place in made or Path(place).is_relative_to(data)):
            raise UserError(f"--report {file}: the run writes this file itself; name another")
        folder = Path(place).parent
        if file and folder not in (results, *results.parents) and not folder.is_dir():
            raise UserError(f"--report {file}: no such folder; make it, or name another")


def _is_in(inner: str | PurePosixPath, outer: str | PurePosixPath) -> bool:
    """Whether `inner` is `outer` or lies among its results; links are followed."""
    inner, outer, results, index = (PurePosixPath(os.path.realpath(one)) for one in (inner, outer, RESULTS, INDEX))
    return inner.is_relative_to(outer) and (outer != results or inner == results or inner.is_relative_to(index))
