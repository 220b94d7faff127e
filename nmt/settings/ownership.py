"""Whose the data of an experiment are: data/EXPERIMENT keeps the names of the files that it was last run with.

So no other file may take the same name by mistake and replace its models, and the experiment that ran last is known.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from nmt.settings.checks import names
from nmt.settings.extends import read
from nmt.settings.project import find
from nmt.system.files import UserError, read_json, write_json

RECORD = "files.json"


def check_owner(experiment: str, files: Sequence[str]) -> None:
    """UserError where data/EXPERIMENT was made from another file that still gives the same name."""
    mine, other = _naming(files, experiment), _naming(_recorded(experiment), experiment)
    if mine and other and not os.path.samefile(find(mine), find(other)):
        raise UserError(
            f"{mine}: experiment {experiment} is also that of {other}, whose data are in data/{experiment}; "
            "give one of them another name"
        )


def record(experiment: str, files: Sequence[str]) -> None:
    """Note that `experiment` is run with `files`."""
    write_json(Path("data") / experiment / RECORD, list(files))


def last_run() -> list[str]:
    """The files of the experiment that ran last; none where none of those that ran still has all its files."""
    records = sorted(Path("data").glob(f"*/{RECORD}"), key=lambda path: path.stat().st_mtime, reverse=True)
    found = (_recorded(path.parent.name) for path in records)
    return next((files for files in found if files and all(map(os.path.isfile, files))), [])


def _recorded(experiment: str) -> list[str]:
    """The files in the record of an experiment; none where it is missing or damaged."""
    try:
        files = read_json(Path("data") / experiment / RECORD)
    except (UserError, OSError):
        return []
    return list(files) if names().accepts(files) else []


def _naming(files: Sequence[str], experiment: str) -> str | None:
    """The last of `files` that gives the name `experiment`; None where none does, as after it was moved or renamed."""
    found = None
    for file in files:
        try:
            if read(file).get("experiment") == experiment:
                found = file
        except (UserError, OSError):
            continue
    return found
