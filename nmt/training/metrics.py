"""The folder of a training run, and its metrics: JSON lines, which other programs may read while it writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nmt.settings.checks import finite, integer
from nmt.system.errors import UserError
from nmt.system.files import SUMMARY, regular
from nmt.system.text import read_json

METRICS = "metrics.jsonl"
LATEST = "latest.pt"  # the last checkpoint


def append_metrics(file: Path, updates: int, seconds: float, **figures: float | None) -> None:
    """Append one line of `figures`, measured after these updates and seconds of training."""
    line = {"updates": updates, "seconds": round(seconds, 3), **figures}
    with open(file, "a", encoding="utf-8") as lines:
        lines.write(json.dumps(line) + "\n")


Record = dict[str, float | None]


def folders(experiment: str, variant: str) -> tuple[Path, Path]:
    """The folder of a training run's checkpoints and metrics, and the folder of the finished model."""
    data = Path("data") / experiment
    return data / "checkpoints" / variant, data / "models" / variant


def latest(experiment: str, variant: str) -> Path | None:
    """The metrics file of a variant that was written last, by a running or a finished training; None if none is."""
    files = [folder / METRICS for folder in folders(experiment, variant)]
    written = {file: _written(file) for file in files}
    return max((file for file in files if written[file]), key=lambda file: written[file], default=None)


def ended_early(experiment: str, variant: str) -> bool:
    """Whether the model of a variant is from a training run that `nmt train --minutes` ended early."""
    try:
        summary = read_json(folders(experiment, variant)[1] / SUMMARY)
    except (UserError, OSError):
        return False
    return isinstance(summary, dict) and summary.get("finished") is False


def is_lost(experiment: str, variant: str, files: Iterable[str]) -> bool:
    """Whether a training has a checkpoint, but not all `files` of its model.

    Snakemake deletes a model before it is trained again. If the changed setting is then undone, Snakemake does not
    notice that the model is missing.
    """
    checkpoints, model = folders(experiment, variant)
    return checkpoints.exists() and not all((model / name).exists() for name in files)


def _written(file: Path) -> float:
    """When a file was last written; 0 if it does not exist."""
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def read_metrics(file: Path) -> list[Record]:
    """The records of a file to which training may be writing; a line that is not a whole record is skipped."""
    try:
        with open(file, "rb", opener=regular) as lines:
            content = lines.read()
    except FileNotFoundError:
        return []
    records = []
    for line in content.split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if _is_record(record):
            records.append(record)
    return records


def _is_record(value: Any) -> bool:
    """Whether `value` is what training writes: updates, seconds, and figures that are numbers or null."""
    return (
        isinstance(value, dict)
        and integer(0).accepts(value.get("updates"))
        and finite(0).accepts(value.get("seconds"))
        and all(one is None or finite(0).accepts(one) for one in value.values())
    )


def values(records: list[Record], name: str) -> list[tuple[int, float]]:
    """(updates, value) of every record that holds the figure `name`."""
    return [(int(record["updates"] or 0), value) for record in records if (value := record.get(name)) is not None]
