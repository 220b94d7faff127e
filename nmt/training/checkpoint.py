"""Checkpoints: the state of a training between two updates, the last two of them always whole on disk."""

from __future__ import annotations

import os
import pickle
import zipfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from nmt.files import UserError, atomic, warn


@dataclass
class State:
    """How far a training is. `updates` counts those of the model it continues, too; NLL is in nats a sentence."""

    updates: int = 0
    seconds: float = 0.0
    target_words: int = 0
    development_nll: float | None = None
    best_nll: float = float("inf")
    best_updates: int = 0
    evaluations_without_improvement: int = 0
    skipped_in_a_row: int = 0
    metrics_bytes: int = 0


@dataclass
class Checkpoint:
    """Everything that an interrupted training needs to end as if it had not been interrupted."""

    settings: dict[str, Any]
    state: State
    model: dict[str, Any]
    optimizer: dict[str, Any]
    best: dict[str, Any] = field(default_factory=dict)


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write `checkpoint` as the latest in `folder`; the one before becomes the previous."""
    latest = folder / "latest.pt"
    with atomic(latest) as partial:
        torch.save(
            {name: getattr(checkpoint, name) for name in ("settings", "model", "optimizer", "best")}
            | {"state": asdict(checkpoint.state)},
            partial,
        )
        if latest.exists():
            os.replace(latest, folder / "previous.pt")


def read_checkpoint(folder: Path, settings: dict[str, Any]) -> Checkpoint | None:
    """The latest whole checkpoint in `folder`, None where there is none.

    Raises UserError where it was made with other settings than `settings`, and names them.
    """
    for name in ("latest.pt", "previous.pt"):
        path = folder / name
        if not path.exists():
            continue
        try:
            content = torch.load(path, map_location="cpu", weights_only=True)
            checkpoint = Checkpoint(**{**content, "state": State(**content["state"])})
        except (RuntimeError, EOFError, KeyError, TypeError, ValueError, pickle.UnpicklingError, zipfile.BadZipFile):
            warn(f"{path} is damaged; the one before it is used")
            continue
        before = checkpoint.settings
        differing = [key for key in {**before, **settings} if before.get(key) != settings.get(key)]
        if differing:
            changes = ", ".join(f"{key} was {before.get(key)}, is {settings.get(key)}" for key in differing)
            raise UserError(f"{path}: {changes}; set it back to go on, or delete {folder} to start afresh")
        return checkpoint
    return None
