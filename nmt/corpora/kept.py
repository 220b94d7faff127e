"""The second name of an archive that is to be fetched again.

Snakemake deletes the archive before the step `fetch` can see whether it is the right one.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def second_name(archive: Path) -> Path:
    """The second name of `archive`, which it has only until it has been fetched again."""
    return archive.with_name(f".{archive.name}.kept")


def keep(archive: Path) -> None:
    """Give `archive`, if it is there, its second name, a hard link. Where there are no such links nothing is kept."""
    if archive.exists():
        with suppress(OSError):
            second_name(archive).unlink(missing_ok=True)
            os.link(archive, second_name(archive))
