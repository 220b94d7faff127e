"""The second name of an archive that is to be fetched again.

Snakemake deletes the archive before the step `fetch` can see whether it is the right one.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def second_name(archive: Path) -> Path:
    """The name of `archive` until it has been fetched again."""
    return archive.with_name(f".{archive.name}.kept")


def keep(archive: Path) -> None:
    """Rename `archive`, if it is there, to its second name."""
    with suppress(OSError):
        os.replace(archive, second_name(archive))
