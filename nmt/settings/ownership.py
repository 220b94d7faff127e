"""Ownership of an experiment's data: data/EXPERIMENT keeps the names of the files that it was last run with.

So no other file can take the same name by mistake and replace its models, and it is known which experiment ran last.
The folders of its results are kept, too: what lies in another folder is not the experiment's to replace.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from nmt.settings.checks import names
from nmt.settings.extends import EXTENDS, OWN, read
from nmt.settings.project import PROJECT, find
from nmt.system.errors import UserError
from nmt.system.text import read_json, write_json

RECORD, FOLDERS, PROVENANCE = "files.json", "results.json", "provenance.json"


class Run(NamedTuple):
    """The files of an experiment, and those of its name and folder of results that they do not give."""

    files: list[str]
    settings: dict[str, str]


def check_owner(experiment: str, files: Sequence[str]) -> None:
    """UserError where data/EXPERIMENT was made from another file that still gives the same name.

    Also where it is the folder of another experiment, too, under another name.

    `files` are none where another workflow uses this one as a module.
    """
    data = Path("data") / experiment
    for path in data.parent.glob("*") if data.exists() else ():
        if path.name != experiment and os.path.exists(path) and path.samefile(data):
            raise UserError(f"{data}: the same folder as {path}; give each experiment a folder of its own")
    known = _recorded_run(experiment)
    theirs = _owner if "experiment" in known.settings else _naming
    mine, other = _owner(files, experiment), theirs(known.files, experiment)
    if mine and other and not os.path.samefile(find(mine), find(other)):
        raise UserError(
            f"{mine}: experiment {experiment} is also that of {other}, whose data are in data/{experiment}; "
            "give one of them another name"
        )


def check_results(experiment: str, folder: str, files: Iterable[str]) -> None:
    """UserError where one of `files`, say <results>/table1.csv, is in `folder` and no run of the experiment has made
    it, or where another experiment has, whose data are there.

    A finished run leaves its provenance there, also in a copy of the folder.
    """
    if os.path.realpath(folder) in map(os.path.realpath, _recorded_folders(experiment)):
        return
    maker = _maker(folder)
    if maker == experiment:
        return
    if maker is not None and (Path("data") / maker / RECORD).is_file():
        raise UserError(
            f"config: results: {folder} has the results of the experiment {maker}, whose data are in data/{maker}; "
            "name another folder"
        )
    if not _may_hold_others(folder):
        return
    for path in (file.replace("<results>", folder) for file in (*files, f"<results>/{PROVENANCE}")):
        if os.path.lexists(path):
            raise UserError(
                f"config: results: {path} is there already, and nothing in data/{experiment} says that a run has made "
                "it; move or remove it, or name another folder"
            )


def record(experiment: str, files: Sequence[str], folder: str) -> None:
    """Note that `experiment` is run with `files` and writes its results to `folder`."""
    settings = {}
    if files and _naming(files, experiment) is None:
        settings["experiment"] = experiment
    if files and os.path.realpath(folder) != os.path.realpath(results_of(files, experiment)):
        settings["results"] = _place(folder)
    run = {"files": list(files), "settings": settings} if settings else list(files)
    write_json(Path("data") / experiment / RECORD, run)
    record_results(experiment, folder)


def record_results(experiment: str, folder: str) -> None:
    """Note that `experiment` writes its results to `folder`."""
    if _may_hold_others(folder):
        folders = {*_recorded_folders(experiment), _place(folder)}
        write_json(Path("data") / experiment / FOLDERS, sorted(folders))


def _place(folder: str) -> str:
    """The path of a folder; relative below the working folder, and so still right where that is moved or copied."""
    place, here = Path(os.path.realpath(folder)), os.path.realpath(".")
    return str(place.relative_to(here) if place.is_relative_to(here) else place)


def results_of(files: Sequence[str], experiment: str) -> str:
    """The folder of results that `files` name, which none inherits."""
    named = [str(settings["results"]) for _, settings in _settings(files) if "results" in settings]
    return os.path.expanduser(named[-1]) if named else f"results/{experiment}"


def last_run() -> Run | None:
    """The experiment that ran last; None where none of those that ran still has all its files."""
    records = sorted(Path("data").glob(f"*/{RECORD}"), key=lambda path: path.stat().st_mtime, reverse=True)
    found = (_recorded_run(path.parent.name) for path in records)
    return next((run for run in found if run.files and all(map(os.path.isfile, run.files))), None)


def recorded_runs() -> dict[str, Run]:
    """The last run of each experiment that was run here, by its name."""
    names = [path.parent.name for path in sorted(Path("data").glob(f"*/{RECORD}"))]
    return {name: _recorded_run(name) for name in names}


def _recorded_run(experiment: str) -> Run:
    """The last run of an experiment; without files where its record is missing or damaged."""
    match _recorded(experiment, RECORD):
        case {"files": files, "settings": {**own}} if names().accepts(files) and names().accepts([*own.values()]):
            return Run(files, {key: str(own[key]) for key in OWN if key in own})
        case files if names().accepts(files):
            return Run(files, {})
    return Run([], {})


def _recorded_folders(experiment: str) -> list[str]:
    folders = _recorded(experiment, FOLDERS)
    return list(folders) if names().accepts(folders) else []


def _recorded(experiment: str, record: str) -> Any:
    """The content of a record of an experiment; None where it is missing or damaged."""
    with suppress(UserError, OSError):
        return read_json(Path("data") / experiment / record)
    return None


def _maker(folder: str) -> str | None:
    """The experiment whose results a folder has, by its provenance."""
    with suppress(UserError, OSError, LookupError, TypeError):
        return str(read_json(Path(folder) / PROVENANCE)["experiment"])
    return None


def _may_hold_others(folder: str) -> bool:
    """Whether a folder of results may hold other files: it is not in the project's own `results`."""
    return not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(PROJECT / "results"))


def _naming(files: Sequence[str], experiment: str) -> str | None:
    """The last of `files` that gives the name `experiment`; None where none does, as after it was moved or renamed."""
    return next((file for file, one in reversed(_settings(files)) if one.get("experiment") == experiment), None)


def _owner(files: Sequence[str], experiment: str) -> str | None:
    """The last of `files` that gives the name `experiment`. Where none does, the name may come from the command line:
    then the last file that gives another name, or else extends another file, or else the first file.
    """
    found = _settings(files)
    own, named, extending = (
        [file for file, settings in found if settings.get("experiment") == experiment],
        [file for file, settings in found if "experiment" in settings],
        [file for file, settings in found if EXTENDS in settings],
    )
    chosen = own or named or extending or [file for file, _ in found[:1]]
    return chosen[-1] if chosen else None


def _settings(files: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
    """The files that can be read, with their settings."""
    found = []
    for file in files:
        with suppress(UserError, OSError):
            found.append((file, read(file)))
    return found
