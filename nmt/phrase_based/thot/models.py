"""Thot's trained models: files in a folder, and their digests, since Thot does not notice damaged files."""

from __future__ import annotations

from pathlib import Path

from nmt.system.files import UserError, read_json, sha256, verify, write_json

MODEL = "model"  # the files of a model begin so
DIGESTS = "digests.json"


def write_digests(folder: Path) -> None:
    """Write the digests of the model in `folder`, once all its files are there."""
    write_json(folder / DIGESTS, {file.name: sha256(file) for file in sorted(folder.glob(f"{MODEL}*"))})


def model_files(folder: Path, step: str) -> list[Path]:
    """The files of the model that `step` wrote to `folder`; UserError if one is missing or damaged."""
    record, files = folder / DIGESTS, sorted(folder.glob(f"{MODEL}*"))
    if not files or not record.is_file():
        raise UserError(f"{folder}: no whole model is there; run the step {step}")
    digests = read_json(record)
    if not isinstance(digests, dict) or sorted(digests) != [file.name for file in files]:
        raise UserError(f"{record}: not of the files that are there; run the step {step}")
    verify(record, digests, f"run the step {step}")
    return files
