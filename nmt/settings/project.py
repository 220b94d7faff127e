"""The project's folder, with the workflow and the files that come with it: experiments, registries, captions, styles.

The workflow runs in any folder: what it makes belongs to the working directory; what it only reads may be the
project's.
"""

from __future__ import annotations

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def find(path: str | Path) -> str:
    """`path` as it is if it exists, seen from the working directory, otherwise `path` in PROJECT if it exists there."""
    return str(PROJECT / path if not Path(path).exists() and (PROJECT / path).exists() else path)
