"""The second name of an archive that is fetched again: Snakemake deletes the first one before it knows whether it must."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def second_name(archive: Path) -> Path:
    """The second name of `archive`, which it has only until it has been fetched again."""
    return archive.with_name(f".{archive.name}.kept")


def keep(archive: Path) -> None:
    """Give `archive`, if it is there, its second name. On a file system without such links it is fetched in any case."""
    if archive.exists():
        with suppress(OSError):
            second_name(archive).unlink(missing_ok=True)
            os.link(archive, second_name(archive))
