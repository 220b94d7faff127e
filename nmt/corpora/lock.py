"""The lock of a registry: the length and hash that each archive had when it was first fetched and must always have.

The lock of `corpora.tsv` is `corpora.lock.tsv` beside it, a table sorted by archive, to be committed with the registry.
Its columns are archive (the path below a mirror), bytes and sha256. An archive with a sha256 in the registry itself is
not in the lock. Standard library only, like `registry`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from nmt.corpora.registry import SHA256
from nmt.system.errors import UserError
from nmt.system.locks import acquire
from nmt.system.text import read_lines, write_lines

HEADER = "archive\tbytes\tsha256"
ENTRY = re.compile(rf"([^\t]+)\t([0-9]{{1,18}})\t({SHA256.pattern})")


class Fingerprint(NamedTuple):
    """The entry of an archive in the lock."""

    bytes: int
    sha256: str


def lock_path(registry: str | Path) -> Path:
    """The path of a registry's lock."""
    return Path(registry).with_suffix(".lock.tsv")


def read_lock(path: str | Path) -> dict[str, Fingerprint]:
    """The fingerprints in the lock at `path` by archive; none if there is no lock yet.

    Raises UserError with the number of a line that `record` would not write.
    """
    if not Path(path).exists():
        return {}
    entries: dict[str, Fingerprint] = {}
    for number, line in enumerate(read_lines(path), 1):
        if number == 1 and line == HEADER:
            continue
        fields = ENTRY.fullmatch(line)
        if number == 1 or fields is None or fields[1] in entries:
            expected = HEADER.replace("\t", ", ")
            raise UserError(
                f"{path}: line {number} must hold {expected}, separated by tabs, each archive once; correct it"
            )
        entries[fields[1]] = Fingerprint(int(fields[2]), fields[3])
    return entries


def record(path: Path, archive: str, fingerprint: Fingerprint) -> Fingerprint:
    """Add an archive to the lock at `path` unless it is there already; return its entry.

    Several processes may do so at once.
    """
    if archive in (entries := read_lock(path)):  # which may be read-only
        return entries[archive]
    with _alone(path):
        entries = read_lock(path)
        if archive not in entries:
            entries[archive] = fingerprint
            lines = (f"{name}\t{entry.bytes}\t{entry.sha256}" for name, entry in sorted(entries.items()))
            write_lines(path, [HEADER, *lines])
        return entries[archive]


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock file for this process while others wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            acquire(file)
            # While this process waited, another may have replaced the file that was opened.
            if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
                yield
                return
        finally:
            os.close(file)
