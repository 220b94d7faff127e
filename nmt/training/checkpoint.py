"""Checkpoints: the state of a training run between two updates. The last two are on disk, and one is always whole.

A file begins with the SHA-256 digest of the rest, which torch.save writes, so that damage is detected. No random state
is saved: the initial weights and the masks of dropout follow from the seed, and a batch from its number.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from io import BufferedReader
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, BinaryIO

import torch

from nmt.settings.sections import NFC
from nmt.settings.variant import has_seed, relearned
from nmt.system.errors import UserError, warn
from nmt.system.files import atomic, check_replaceable, of_names, regular, sync_folder
from nmt.system.locks import acquire
from nmt.training.metrics import LATEST, METRICS

PREVIOUS, DAMAGED = "previous.pt", "damaged.pt"
FORMER, FINISHED = "former.pt", "finished.pt"  # set aside: of an unfinished training, and of a finished one
ON_THE_WAY = {FORMER: "former.new.pt", FINISHED: "finished.new.pt"}  # their names while they are exchanged
TEXTS = {"data", "development", "codes"}  # settings that are fingerprints of texts, and change when these are edited
FOLLOWS = "initial"  # the fingerprint of the initial model, which was trained on them and so changes with them
UNFINISHED = f"{LATEST} and {PREVIOUS}"  # what to delete for a new start; what was set aside may be a finished model
DIGEST_BYTES = hashlib.sha256().digest_size
UNSET = "unset"


@dataclass
class Interval:
    """The updates since the last record: the cost and gradient norm of each, and their target words and seconds."""

    costs: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    words: int = 0
    seconds: float = 0.0


@dataclass
class State:
    """Progress of a training run. `updates` includes those of the model it continues; NLL is in nats per sentence.

    The best scores are those of one model, the best one by the score that must improve.
    """

    updates: int = 0
    seconds: float = 0.0
    target_words: int = 0
    development_nll: float | None = None
    development_bleu: float | None = None
    best_nll: float = float("inf")
    best_bleu: float = float("-inf")
    best_updates: int = 0
    evaluations_without_improvement: int = 0
    skipped: int = 0
    skipped_in_a_row: int = 0
    interval: Interval = field(default_factory=Interval)

    def scores(self, best: bool) -> dict[str, float | None]:
        """The development scores of the best or the last model, under their names in a summary."""
        nll, bleu = (self.best_nll, self.best_bleu) if best else (self.development_nll, self.development_bleu)
        return {"development_nll": nll} | ({} if self.development_bleu is None else {"development_bleu": bleu})


@dataclass
class Checkpoint:
    """Everything that an interrupted run needs to end as if it had not been interrupted."""

    settings: dict[str, Any]
    state: State
    model: dict[str, Any]
    optimizer: dict[str, Any]
    best: dict[str, Any]
    metrics: str
    shortlists: dict[str, str] = field(default_factory=dict)  # the digest of each side's; none in older versions
    normalize: str = NFC  # of the training text; not one of the settings, because the data's fingerprint covers it
    finished: bool = False  # whether the training has ended, and only its model is to be written
    code: str = ""  # the digest of the code that ended it


def fingerprint(paths: Iterable[str | Path]) -> str:
    """A digest of the contents of files: one of a checkpoint's settings, so that it is not resumed with other files."""
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


#: Whether a file in a folder of checkpoints was written by training.
_is_own = of_names(LATEST, PREVIOUS, DAMAGED, FORMER, FINISHED, *ON_THE_WAY.values(), METRICS)


def check_folder(folder: Path) -> None:
    """Raise UserError if `folder` holds anything but what training writes there, or cannot be made."""
    if not folder.name:
        raise UserError(f"{folder}: has no name for the lock beside it; name a folder in it")
    if folder.is_symlink() and not folder.exists():
        raise UserError(f"{folder}: a link that leads nowhere; remove it, or name another folder")
    check_replaceable(folder, "a folder of checkpoints", _is_own)
    for path in folder.iterdir() if folder.exists() else []:
        with suppress(FileNotFoundError):  # another process, which trains there, has renamed it
            if not stat.S_ISREG(path.lstat().st_mode):  # what is written through a link is another file
                raise UserError(f"{path}: a link, a folder, a pipe or a device in place of a file; remove it")


@contextmanager
def locked(folder: Path, wait: bool = True) -> Iterator[None]:
    """Wait until no other process trains in `folder`, and keep others out while the context lasts.

    Without `wait`, raises UserError where another process trains there.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_name(f".{folder.name}.lock"), "a", opener=regular) as file:
        if not acquire(file, wait=False):
            if not wait:
                raise UserError(f"{folder}: another process trains there; wait for it to end")
            warn(f"{folder}: another process trains there; waiting for it to end")
            acquire(file)
        yield


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write `checkpoint` as the latest in `folder`; the latest until now becomes the previous one."""
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
    sync_folder(folder)


def read_checkpoint(folder: Path, settings: dict[str, Any], code: str = "") -> Checkpoint | None:
    """The latest whole checkpoint in `folder`, or None.

    A damaged file is renamed. So is one from other text, or of a finished training run with other settings or `code`,
    until the former ones are back. Unfinished files of a killed process are removed. Raises UserError if the settings
    of an unfinished training differ from `settings`, and names them; a setting at its neutral value is in neither.
    """
    for unfinished in folder.glob(".*.partial"):
        unfinished.unlink(missing_ok=True)
    _end_exchange(folder)
    for name in (LATEST, PREVIOUS):
        path = folder / name
        if not path.exists():
            continue
        with open(path, "rb", opener=regular) as file:
            checkpoint = _read(file)
        if checkpoint is None:
            os.replace(path, folder / DAMAGED)
            warn(f"{path} is damaged and was renamed to {DAMAGED}; the training resumes from the one before it, if any")
            continue
        return _fitting(folder, path, checkpoint, settings, code)
    for name, aside in _set_aside(folder):
        if not _differing(aside, settings, code):
            os.replace(folder / name, folder / LATEST)
            return aside
    return None


def _differing(checkpoint: Checkpoint, settings: dict[str, Any], code: str) -> list[str]:
    """The names of the settings that differ from those of `checkpoint`; "code" if other code has finished it."""
    before = relearned(checkpoint.settings)
    differing = [key for key in {**before, **settings} if before.get(key) != settings.get(key)]
    if "seed" in differing and not (has_seed(before) and has_seed(settings)):
        differing.remove("seed")  # one of them has none: so "continues" or "dropout" differs, too
    return [*differing, "code"] if checkpoint.finished and checkpoint.code != code else differing


def _fitting(folder: Path, path: Path, found: Checkpoint, settings: dict[str, Any], code: str) -> Checkpoint | None:
    """What to resume from, where the latest checkpoint is `found` in `path`: that, one that was set aside, or None.

    A checkpoint is set aside when the text changes, or the settings or the code of a finished training, which may be
    undone. There is one place for a finished training and one for an unfinished one; of two checkpoints for a place,
    that with more updates is kept. Raises UserError if `found` is of an unfinished training with other settings.
    """
    differing, own = _differing(found, settings, code), FINISHED if found.finished else FORMER
    others = dict(_set_aside(folder))
    has_longer = own in others and others[own].state.updates > found.state.updates
    for name, aside in others.items():
        if not _differing(aside, settings, code) and (differing or (aside.finished and not found.finished)):
            if has_longer and name != own:
                os.replace(folder / name, folder / LATEST)
                what = f"replaced by {name}, which fits the settings; {own}, with more updates, is kept"
            else:
                os.replace(path, folder / ON_THE_WAY[own])
                os.replace(folder / name, folder / LATEST)
                _end_exchange(folder)
                what = f"exchanged with {name}, which fits the settings; the training resumes from it"
            (folder / PREVIOUS).unlink(missing_ok=True)
            warn(f"{path}: {what}")
            return aside
    if not differing:
        return found
    of_other_text = {*TEXTS, FOLLOWS}.issuperset(differing) and differing != [FOLLOWS]
    if not (of_other_text or found.finished):
        before = found.settings
        raise UserError(
            f"{path}: "
            + ", ".join(f"{key} was {before.get(key, UNSET)}, is {settings.get(key, UNSET)}" for key in differing)
            + f"; set it back to resume, or delete {UNFINISHED} in {folder} to start from the beginning"
        )
    if has_longer:
        path.unlink()
        what = f"removed; {own}, with more updates, is kept"
    else:
        os.replace(path, folder / own)
        what = f"renamed to {own}"
    (folder / PREVIOUS).unlink(missing_ok=True)
    made = "from other text" if of_other_text else "with other settings"
    warn(f"{path}: made {made} ({', '.join(differing)}), and {what}; the training starts from the beginning")
    return None


def _end_exchange(folder: Path) -> None:
    """Finish an exchange; undo one that was interrupted before the other checkpoint had become the latest."""
    for own, on_the_way in ON_THE_WAY.items():
        with suppress(FileNotFoundError):
            os.replace(folder / on_the_way, folder / (own if (folder / LATEST).exists() else LATEST))


def _set_aside(folder: Path) -> Iterator[tuple[str, Checkpoint]]:
    """The checkpoints that were set aside, those that can be read, by name."""
    for name in (FINISHED, FORMER):
        with suppress(FileNotFoundError, UserError), open(folder / name, "rb", opener=regular) as file:
            if (checkpoint := _read(file)) is not None:
                yield name, checkpoint


def look_at_checkpoint(folder: Path) -> Checkpoint:
    """The latest whole checkpoint in `folder`, to which training may be writing: nothing in it is changed.

    Raises UserError if there is none.
    """
    for name in (LATEST, PREVIOUS):  # the order in which training renames a checkpoint
        with suppress(FileNotFoundError, NotADirectoryError), open(folder / name, "rb", opener=regular) as file:
            checkpoint = _read(file)
            if checkpoint is not None:
                return checkpoint
    raise UserError(f"{folder}: no whole checkpoint in it; name the --checkpoints folder of an unfinished training")


def remove_checkpoints(folder: Path, *kept: str) -> None:
    """Remove what training wrote to `folder` but the files `kept`, and the folder if nothing is left in it.

    The latest checkpoint is removed last: the run can resume as long as one is left.
    """
    own = [path for path in folder.iterdir() if _is_own(path) and path.name not in kept]
    for path in sorted(own, key=lambda path: path.name == LATEST):
        path.unlink()
    with suppress(OSError):  # it has other files, or is a link to a folder
        folder.rmdir()


def _save(content: dict[str, Any], file: BinaryIO) -> None:
    """torch.save, except that a failed write, as on a full disk, raises its OSError instead of a RuntimeError."""
    try:
        torch.save(content, file)
    except RuntimeError as error:
        if isinstance(error.__context__, OSError):
            raise error.__context__ from None
        raise


def _read(file: BufferedReader) -> Checkpoint | None:
    """The checkpoint in `file`, None if its content does not match its digest. UserError if it is not one of ours."""
    digest = file.read(DIGEST_BYTES)
    if digest != hashlib.file_digest(file, "sha256").digest():
        return None
    file.seek(DIGEST_BYTES)
    try:
        content = torch.load(file, map_location="cpu", weights_only=True)
        state = content["state"]
        state["interval"] = Interval(**state["interval"])
        checkpoint = Checkpoint(**{**content, "state": State(**state)})
        if all(_is_typed(part) for part in (checkpoint, checkpoint.state, checkpoint.state.interval)):
            return checkpoint
    except (AttributeError, EOFError, LookupError, RuntimeError, TypeError, ValueError, UnpicklingError):
        pass
    raise foreign(Path(file.name))


def _is_typed(value: Checkpoint | State | Interval) -> bool:
    """Whether every field of `value` has its type: a file may hold anything."""
    kinds: dict[Any, Any] = {
        "float": int | float,
        "float | None": int | float | None,
        "str": str,
        "int": int,
        "bool": bool,
    }
    kinds |= {"State": State, "Interval": Interval, "list[float]": list}
    return all(isinstance(getattr(value, one.name), kinds.get(one.type, dict)) for one in fields(value))


def foreign(path: Path) -> UserError:
    """The error for a checkpoint that is whole, but not of this version or this model."""
    return UserError(f"{path}: written by another version; resume with that version, or delete this file")
