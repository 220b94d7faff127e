"""The metrics of an experiment's trainings, those under way on any machine among them: files are all that is read."""

from __future__ import annotations

import json
from pathlib import Path

METRICS = "metrics.jsonl"

Record = dict[str, float | None]


def folders(experiment: str, variant: str) -> tuple[Path, Path]:
    """Where a training leaves checkpoints and metrics on its way, and where the finished model goes."""
    data = Path("data") / experiment
    return data / "checkpoints" / variant, data / "models" / variant


def latest(experiment: str, variant: str) -> Path | None:
    """The metrics last written for a variant, on the way or finished; None before its first."""
    files = [folder / METRICS for folder in folders(experiment, variant)]
    written = {file: _written(file) for file in files}
    return max((file for file in files if written[file]), key=lambda file: written[file], default=None)


def _written(file: Path) -> float:
    """When a file was written last; 0 where there is none."""
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def read_metrics(file: Path) -> list[Record]:
    """The records of a file that a training may be writing to: a line that is not whole yet is left out."""
    try:
        lines = file.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    records = []
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and {"updates", "seconds"} <= record.keys():
            records.append(record)
    return records


def values(records: list[Record], name: str) -> list[tuple[int, float]]:
    """(updates, value) wherever the figure `name` was recorded."""
    return [(int(record["updates"] or 0), value) for record in records if (value := record.get(name)) is not None]
