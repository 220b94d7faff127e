"""What is remembered from run to run: a file that begins with the hash of the rest. A damaged one is not believed."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from nmt.system.files import UserError, atomic


def recall(path: Path) -> dict[str, Any]:
    """What was remembered in the file `path`; nothing where it is missing or damaged."""
    with suppress(OSError, ValueError):
        found, _, content = path.read_text().partition("\n")
        if _hash(content) == found:
            kept: dict[str, Any] = json.loads(content)
            return kept
    return {}


def remember(path: Path, memory: dict[str, Any]) -> None:
    """Write `memory` to `path`. Where that fails, its content is found again: that costs time only."""
    content = json.dumps(memory)
    with suppress(OSError, UserError), atomic(path) as partial:
        partial.write_text(f"{_hash(content)}\n{content}")


def _hash(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()
