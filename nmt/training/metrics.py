"""The metrics that a training writes on its way: one JSON object a line."""

from __future__ import annotations

import json
from pathlib import Path

METRICS = "metrics.jsonl"


def append_metrics(file: Path, updates: int, seconds: float, **figures: float | None) -> None:
    """Append one line of `figures`, as they were after so many updates and seconds of training."""
    line = {"updates": updates, "seconds": round(seconds, 3), **figures}
    with open(file, "a", encoding="utf-8") as lines:
        lines.write(json.dumps(line) + "\n")
