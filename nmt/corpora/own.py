"""The user's own files: they are read where they are, and a change of one is a change of its corpus.

Own are the files that an experiment lists under `files`, and those of a registry that a path or a file: URL names and
of which it knows neither length nor hash. All others are published archives: fetched, checked and kept. Standard
library only, because the workflow looks for them whenever it is parsed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import unquote, urlsplit

from nmt.corpora.registry import Archive, Corpus, read_registry
from nmt.settings.experiment import Experiment
from nmt.settings.project import find
from nmt.system.files import UserError


def read_corpora(experiment: Experiment) -> dict[str, Corpus]:
    """The corpora of an experiment's registry, or those of its own files, by name. Raises UserError."""
    if experiment.files is None:
        return read_registry(find(experiment.registry))
    return {
        name: Corpus(name, tuple(Archive(file) for file in pair))
        for pairs in experiment.files.pairs().values()
        for name, pair in pairs.items()
    }


def local_path(address: str) -> Path | None:
    """The file or folder of a path or a file: URL, ~ being the user's home; None for the address of a server.

    Raises UserError for a URL of another kind.
    """
    if "://" not in address:
        return Path(os.path.expanduser(address))
    parts = urlsplit(address)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return Path(unquote(parts.path))
    if parts.scheme in ("http", "https") and parts.netloc:
        return None
    raise UserError(f"{address}: not an http, https or file URL; correct it, or `mirror` in the config")


def mirror_folder(mirror: str) -> Path | None:
    """The folder that `mirror` names, None for a server. Raises UserError if there is no such folder."""
    folder = local_path(mirror)
    if folder is not None and not folder.is_dir():
        raise UserError(f"mirror: {mirror}: no such folder; set `mirror` in the config to one that is there")
    return folder


def own_files(archives: Iterable[Archive], mirror: str) -> dict[str, str]:
    """The paths of those of `archives` that are the user's own files, by address; `mirror` may be ""."""
    found = {archive.address: _own_file(archive, mirror) for archive in archives}
    return {address: str(path) for address, path in found.items() if path is not None}


def _own_file(archive: Archive, mirror: str) -> Path | None:
    if archive.sha256 or archive.published or archive.bytes is not None or archive.mirrors:
        return None
    if "://" in archive.address:
        return None if mirror else local_path(archive.address)
    folder, path = local_path(mirror), local_path(archive.address)
    return folder / path if folder and path else None


def check_files(paths: Iterable[str]) -> None:
    """UserError, which names the nearest file beside it, where one of the user's own files is missing."""
    for path in map(Path, paths):
        if not path.is_file():
            beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
            near = get_close_matches(path.name, beside, 1)
            raise UserError(
                f"{path}: no such file{f'; the nearest is {near[0]}' if near else ''}; correct its name, or "
                "`mirror` if a registry names it"
            )


def check_mirror(mirror: str, fetched: Iterable[str]) -> None:
    """UserError where one of the `fetched` archives is still missing, and so is the folder that `mirror` names."""
    if mirror and not all(os.path.exists(path) for path in fetched):
        mirror_folder(mirror)
