"""SHA-256 checksums of files, and the JSON files that record them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from nmt.system.errors import UserError
from nmt.system.files import open_once
from nmt.system.text import read_json


def sha256(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with open_once(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify(record: Path, digests: Mapping[str, str], remedy: str) -> None:
    """Compare files with their SHA-256s, which `record` holds; their names are relative to its folder.

    Raises UserError, which ends with what to do, if one is missing or differs.
    """
    for name, digest in digests.items():
        path = record.parent / name
        if not path.is_file():
            raise UserError(f"{path}: no such file; {remedy}")
        if sha256(path) != digest:
            raise UserError(f"{path}: damaged or replaced, it does not agree with {record.name}; {remedy}")


@contextmanager
def unreplaced(record: Path) -> Iterator[None]:
    """A context that reads `record` and the files beside it.

    Raises UserError if they are replaced before it ends: what was read may be of two versions.
    """
    before = _content(record)

    def check() -> None:
        if _content(record) != before:
            raise UserError(f"{record.parent}: replaced while it was read; run the command again")

    try:
        yield
    except (UserError, OSError):
        check()
        raise
    check()


def _content(record: Path) -> bytes | None:
    """None if there is no such file, as there is none for a moment while its folder is replaced."""
    with suppress(OSError):
        return record.read_bytes()
    return None


def recorded(record: str, names: Iterable[str]) -> Callable[[Path], bool]:
    """A test for `check_folder`: files of these names are ours if the JSON file `record` beside them holds digests."""
    own = {record, *names}

    def is_own(path: Path) -> bool:
        with suppress(UserError, OSError):
            found = read_json(path.with_name(record))
            return path.name in own and isinstance(found, dict) and "digests" in found
        return False

    return is_own
