"""Counts that trainings and steps leave in JSON files, and where a training that continues another begins to count."""

from __future__ import annotations

from pathlib import Path

from nmt.settings.checks import integer, read_values
from nmt.settings.experiment import Experiment
from nmt.settings.variant import Variant
from nmt.system.errors import UserError
from nmt.system.files import SUMMARY
from nmt.training.metrics import Record, folders


def count(file: Path, key: str, minimum: int) -> int | None:
    """A whole number in a JSON file; None if it is missing or damaged."""
    try:
        return int(read_values(file, **{key: integer(minimum)})[key])
    except UserError:
        return None


def last_update(records: list[Record]) -> int:
    """The updates of a training up to its last record; 0 if there is none."""
    return int(records[-1]["updates"] or 0) if records else 0


def updates_before(experiment: Experiment, variant: Variant) -> int | None:
    """The updates of the model that a variant continues; 0 if it continues none, None if they are not known."""
    return _before(experiment, variant, "updates_best")


def pairs_before(experiment: Experiment, variant: Variant) -> int | None:
    """The pairs on which the continued model was trained; 0 and None as in `updates_before`."""
    return _before(experiment, variant, "pairs_seen_best")


def _before(experiment: Experiment, variant: Variant, key: str) -> int | None:
    if variant.continues is None:
        return 0
    return count(folders(experiment.name, variant.continues)[1] / SUMMARY, key, 0)
