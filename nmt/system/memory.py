"""A cache kept between runs: the first line is the hash of the rest, and damaged files are ignored."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from nmt.system.errors import UserError
from nmt.system.files import atomic


def recall(path: Path) -> dict[str, Any]:
    """What was cached in the file `path`; nothing if it is missing or damaged."""
    with suppress(OSError, ValueError):
        found, _, content = path.read_text().partition("\n")
        if _hash(content) == found:
            kept: dict[str, Any] = json.loads(content)
            return kept
    return {}


def remember(path: Path, memory: dict[str, Any]) -> None:
    """Write `memory` to `path`. If that fails, the content is computed again, which only costs time."""
    content = json.dumps(memory)
    with suppress(OSError, UserError), atomic(path) as partial:
        partial.write_text(f"{_hash(content)}\n{content}")


def _hash(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()
