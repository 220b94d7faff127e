"""Checkpoints: the state of a training between two updates, the last two of them always whole on disk.

A file is the SHA-256 of all that follows in it, then what torch.save writes, so that any damaged byte is noticed.
Training draws no random numbers once the weights are initialized, and a batch depends on its number alone: there is no
other place or random state to keep.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, BinaryIO

import torch

from nmt.system.files import UserError, atomic, warn

LATEST, PREVIOUS = "latest.pt", "previous.pt"
DIGEST_BYTES = hashlib.sha256().digest_size


@dataclass
class Interval:
    """The updates since the last record: the cost and the gradient's norm of each, target words and seconds of all."""

    costs: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    words: int = 0
    seconds: float = 0.0


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
    skipped: int = 0
    skipped_in_a_row: int = 0
    interval: Interval = field(default_factory=Interval)


@dataclass
class Checkpoint:
    """Everything that an interrupted training needs to end as if it had not been interrupted."""

    settings: dict[str, Any]
    state: State
    model: dict[str, Any]
    optimizer: dict[str, Any]
    best: dict[str, Any]
    metrics: str


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until no other process trains in `folder`, and let none as long as the context lasts."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_name(f".{folder.name}.lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            warn(f"{folder}: another process trains there; waiting for its end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            pass  # a file system without locks
        yield


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write `checkpoint` as the latest in `folder`; the one before becomes the previous."""
    latest = folder / LATEST
    content = {one.name: getattr(checkpoint, one.name) for one in fields(checkpoint)}
    with atomic(latest) as partial:
        with open(partial, "w+b") as file:
            file.write(bytes(DIGEST_BYTES))
            _save(content | {"state": asdict(checkpoint.state)}, file)
            file.seek(DIGEST_BYTES)
            digest = hashlib.file_digest(file, "sha256").digest()
            file.seek(0)
            file.write(digest)
            file.flush()
            os.fsync(file.fileno())
        if latest.exists():
            os.replace(latest, folder / PREVIOUS)
    _sync(folder)


def read_checkpoint(folder: Path, settings: dict[str, Any]) -> Checkpoint | None:
    """The latest whole checkpoint in `folder`, None where there is none.

    A damaged one is set aside, and what a killed writer has left is removed. Raises UserError where the checkpoint was
    made with other settings than `settings`, and names them.
    """
    for unfinished in folder.glob(".*.partial"):
        unfinished.unlink(missing_ok=True)
    for name in (LATEST, PREVIOUS):
        path = folder / name
        if not path.exists():
            continue
        if not _is_whole(path):
            os.replace(path, folder / "damaged.pt")
            warn(f"{path} is damaged and now called damaged.pt; the training goes on from the state before it")
            continue
        with open(path, "rb") as file:
            file.seek(DIGEST_BYTES)
            content = torch.load(file, map_location="cpu", weights_only=True)
        try:
            state = content["state"]
            state["interval"] = Interval(**state["interval"])
            checkpoint = Checkpoint(**{**content, "state": State(**state)})
        except (KeyError, TypeError):
            raise UserError(f"{path}: written by another version; go on with that, or delete {folder}") from None
        before = checkpoint.settings
        differing = [key for key in {**before, **settings} if before.get(key) != settings.get(key)]
        if differing:
            changes = ", ".join(f"{key} was {before.get(key)}, is {settings.get(key)}" for key in differing)
            raise UserError(f"{path}: {changes}; set it back to go on, or delete {folder} to start afresh")
        return checkpoint
    return None


def remove_checkpoints(folder: Path) -> None:
    """Remove `folder`, the older checkpoint first: as long as there is one, it is one to go on from."""
    for name in (PREVIOUS, LATEST):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder)


def _save(content: dict[str, Any], file: BinaryIO) -> None:
    """torch.save, but a write that fails, on a full disk say, is the OSError that it is."""
    try:
        torch.save(content, file)
    except RuntimeError as error:
        if isinstance(error.__context__, OSError):
            raise error.__context__ from None
        raise


def _is_whole(path: Path) -> bool:
    """Whether the file is what its digest says."""
    with open(path, "rb") as file:
        digest = file.read(DIGEST_BYTES)
        return digest == hashlib.file_digest(file, "sha256").digest()


def _sync(folder: Path) -> None:
    """Make the names of the files in `folder` as lasting as their contents."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
