"""The user's own files: they are read in place, and changes are detected.

The user's own files are those that an experiment lists under `files`, and those that a registry names by a path or a
file: URL without a length or a hash. All others are published archives: fetched, checked and kept. Standard library
only, because the workflow looks for them whenever it is parsed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from nmt.corpora.archives import told_from
from nmt.corpora.languages import ending_of, known_as
from nmt.corpora.normalization import normalized
from nmt.corpora.registry import Archive, Corpus, as_argument, check_url, in_one_form, read_registry
from nmt.settings.experiment import Experiment
from nmt.settings.project import find
from nmt.settings.sections import NFC, Languages
from nmt.system.checksums import sha256
from nmt.system.compression import GZIP, XZ, ZIP
from nmt.system.errors import UserError
from nmt.system.files import check_regular
from nmt.system.memory import recall, remember

MEMORY = Path(".snakemake/own_files.json")
# A file of `files` with a member of an archive, or with the number of a column, after a colon.
ARCHIVE = r"\.(?:zip|tar(?:\.[gx]z)?|t[gx]z)"
MEMBER = re.compile(rf"(.+?{ARCHIVE}):(.+)", re.IGNORECASE | re.DOTALL)
COLUMN = re.compile(r"(.+)(:[1-9])", re.DOTALL)


def read_corpora(experiment: Experiment) -> dict[str, Corpus]:
    """The corpora of an experiment's registry, or those of its own files, by name. Raises UserError."""
    if experiment.files is None:
        return read_registry(find(experiment.registry))
    found = {}
    for pairs in experiment.files.pairs().values():
        for name, pair in pairs.items():
            files, members = zip(*map(file_and_member, pair), strict=True)
            found[name] = Corpus(name, tuple(map(Archive, files)), members)
    return found


def check_sides(pair: Sequence[str], languages: Languages) -> None:
    """UserError where one of two files, source first, is in the language of the other side by its name.

    The name of a table does not say which of more than two columns hold its languages.
    """
    if any(re.search(":[3-9]$", file) for file in pair):
        return
    source, target = ({code, known_as(code)} for code in (languages.source, languages.target))
    for file, others in zip(pair, (target - source, source - target), strict=True):
        code = ending_of(file)
        if code in others or (code.isalpha() and known_as(code) in others):
            first = languages.source
            raise UserError(
                f"{file}: is in {code} by its name; give {first} first in each pair, or exchange the languages"
            )


def entry_of(address: str, member: str) -> str:
    """An archive and a member of it, as an entry of `files` names them."""
    return f"{address}:{member.removeprefix(':')}" if member else address


def file_and_member(entry: str) -> tuple[str, str]:
    """The file that an entry of `files` names, and the member, as a registry has it: a.zip:b.en, a.tsv:1 or a.en."""
    match = MEMBER.fullmatch(entry) or COLUMN.fullmatch(entry)
    return (match[1], in_one_form(match[2])) if match else (entry, "")


def local_path(address: str, setting: str = "mirror") -> Path | None:
    """The file or folder of a path or a file: URL, ~ being the user's home; None for the address of a server.

    Raises UserError, which names the `setting` to correct, for a URL of another kind.
    """
    if "://" not in address:
        return Path(os.path.expanduser(address))
    try:
        parts = urlsplit(address)
        if parts.scheme == "file" and parts.netloc in ("", "localhost"):
            return Path(unquote(parts.path))
        if parts.scheme in ("http", "https") and parts.netloc:
            check_url(address)
            return None
    except ValueError as error:
        raise UserError(f"{address}: {error}; correct it, or `{setting}` in the config") from None
    raise UserError(f"{address}: not an http, https or file URL; correct it, or `{setting}` in the config")


def mirror_folder(mirror: str, setting: str = "mirror") -> Path | None:
    """The folder that `mirror`, the value of `setting`, names; None for a server. Raises UserError if it is missing."""
    folder = local_path(mirror, setting)
    if folder is not None and not folder.is_dir():
        raise UserError(f"{setting}: {mirror}: no such folder; set `{setting}` in the config to one that is there")
    return folder


def own_files(archives: Iterable[Archive], mirror: str) -> dict[str, str]:
    """The paths of those of `archives` that are the user's own files, by address; `mirror` may be ""."""
    found = {archive.address: _own_file(archive, mirror) for archive in archives}
    return {address: as_argument(str(path)) for address, path in found.items() if path is not None}


def _own_file(archive: Archive, mirror: str) -> Path | None:
    if archive.sha256 or archive.published or archive.bytes is not None or archive.mirrors:
        return None
    if "://" in archive.address:
        return None if mirror else local_path(archive.address)
    folder, path = local_path(mirror), local_path(archive.address)
    return folder / path if folder and path else None


def check_files(paths: Iterable[str]) -> None:
    """UserError, which names the nearest file beside it, where one of the user's own files is missing."""
    for name in paths:
        if "://" in name:
            raise UserError(f"{name}: a URL; fetch the file, or name it in a registry")
        path = Path(name)
        if path.exists():
            check_regular(path)
            continue
        if path.is_symlink():
            raise UserError(f"{path}: a link that leads nowhere; mount its disk, or name another file")
        file, colon, part = str(path).rpartition(":")
        if colon and os.path.isfile(file):
            raise UserError(
                f"{path}: no such file, and {part} cannot be read from {file}: a column is a number from 1 to 9, and "
                "members are read from .zip, .tar, .tar.gz and .tar.xz"
            )
        beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
        near = [told_from(path.name, one) for one in get_close_matches(path.name, beside, 1)]
        raise UserError(
            f"{path}: no such file{f'; the nearest is {near[0]}' if near else ''}; correct its name, or "
            "`mirror` if a registry names it"
        )


def check_uses(experiment: Experiment, registry: Mapping[str, Corpus], own: Mapping[str, str]) -> None:
    """UserError where a file of a test set or of the development text is also one of text that has another use.

    In-domain text may be the development text. `own` has the paths of own files, by address.
    """

    def places(names: Iterable[str]) -> dict[tuple[str, str], str]:
        files = [side for name in names for side in registry[name].sides]
        paths = {one.address: os.path.realpath(own[one.address]) for one, _ in files if one.address in own}
        return {(paths.get(one.address) or one.path, member): one.address for one, member in files}

    for scored, use in (("test", "train"), ("test", "development"), ("test", "in_domain"), ("development", "train")):
        known = places(getattr(experiment.corpora, scored))
        for place, address in places(getattr(experiment.corpora, use)).items():
            if place in known:
                text = entry_of(address, place[1])
                raise UserError(f"{text}: text of both {scored} and {use}; leave it out of one of them")


def check_sentence(setting: str, number: int, corpora: Sequence[Corpus], own: Mapping[str, str]) -> None:
    """UserError where `corpora`, one after the other, have no sentence `number` (from 1), as far as is known.

    The number of sentences is known from the registry, or if an own file is plain text; then it is also known whether
    the line is blank. `own` has the paths of own files, by address.
    """
    names, last = " and ".join(one.name for one in corpora), 0
    for corpus in corpora:
        lines = _lines(corpus, own)
        count = corpus.pairs if lines is None else len(lines)
        if count is None:
            return
        place = number - last - 1
        if lines and 0 <= place < count and not normalized(lines[place].decode(errors="replace"), NFC).split():
            raise UserError(f"config: {setting}: {names}: line {number} is blank; choose another")
        last += count
    if number > last:
        raise UserError(f"config: {setting}: {names}: expected a number from 1 to {last}, not {number}")


def _lines(corpus: Corpus, own: Mapping[str, str]) -> list[bytes] | None:
    """The lines of the source of a corpus; None where it is not an own file of plain text."""
    packed = (GZIP, XZ, *ZIP)
    path = own.get(corpus.archives[0].address)
    if path is None or corpus.members[0] or reading(path):
        return None
    with open(path, "rb") as file:
        return None if file.peek(max(map(len, packed))).startswith(packed) else file.readlines()


def check_outside(experiment: Experiment, own: Iterable[str], mirror: str, fetched: Iterable[str]) -> None:
    """UserError where an input lies in a folder that the run writes, or one such folder lies in another or is a file.

    A mirror may hold the whole project: what counts is where its copies of the archives are.
    """
    for name in (f"data/{experiment.name}", experiment.results, "logs", "benchmarks"):
        for folder in (Path(name), *Path(name).parents):
            if folder.is_file():
                raise UserError(f"{folder}: a file, where the run writes to a folder; move it, or name another folder")
    data, results = (Path(os.path.realpath(one)) for one in (f"data/{experiment.name}", experiment.results))
    if data == results or data in results.parents or results in data.parents:
        raise UserError(
            f"config: results: {experiment.results} and data/{experiment.name}, which the run writes, must not lie in "
            "each other; name another folder"
        )
    inputs = [*own, *([experiment.registry] if experiment.registry else [])]
    if folder_of_mirror := local_path(mirror) if mirror else None:
        inputs += [str(folder_of_mirror), *(f"{folder_of_mirror}/{path}" for path in fetched)]
    for path in inputs:
        full = os.path.expanduser(path)
        around = [Path(os.path.realpath(full)), Path(os.path.realpath(os.path.dirname(full) or "."))]
        for folder, name in ((data, f"data/{experiment.name}"), (results, experiment.results)):
            if any(folder in (one, *one.parents) for one in around):
                raise UserError(f"{path}: in {name}, which the run itself writes; move it elsewhere")


def reading(path: str) -> str:
    """How `extract` reads one of the user's own files because of its name: "segments", "tabs", or "" for lines."""
    from nmt.corpora.extract import TABLE  # here: most runs have no files of their own
    from nmt.corpora.sgml import NAME

    return "segments" if NAME.search(path) else "tabs" if TABLE.search(path) else ""


def digest(path: str) -> str:
    """The SHA-256 of one of the user's own files. It is cached, and computed again if the file is replaced or changed.

    Snakemake itself notices only newer files.
    """
    found = os.stat(path)
    state = [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
    match _memory().get(path):
        case [kept, str(known)] if kept == state:
            return known
    known = sha256(path)
    _memory()[path] = [state, known]
    remember(MEMORY, _memory())
    return known


@cache
def _memory() -> dict[str, Any]:
    """For each file that was read: its size, dates and inode, and its SHA-256."""
    return recall(MEMORY)


def check_mirror(mirror: str, fetched: Iterable[str], setting: str = "mirror") -> None:
    """UserError where one of the `fetched` files is still missing, and so is the folder that `mirror` names."""
    if mirror and not all(os.path.exists(path) for path in fetched):
        mirror_folder(mirror, setting)
