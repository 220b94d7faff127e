"""Read parallel files of one set, and pair the files of several models with their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from nmt.system.errors import UserError
from nmt.system.text import read_lines

Item = TypeVar("Item")


def read_parallel(*paths: str) -> list[list[str]]:
    """The lines of each file of one set; UserError where two files differ in length, or the set is empty."""
    files = [list(read_lines(path)) for path in paths]
    for path, lines in zip(paths, files, strict=True):
        if len(lines) != len(files[0]):
            raise UserError(
                f"{path}: {len(lines)} lines, but {paths[0]} has {len(files[0])}; give files of the same set"
            )
    if not files[0]:
        raise UserError(f"{paths[0]}: no sentences in it; name a set that has some")
    return files


def grouped(labels: Sequence[str], option: str, paths: Sequence[Item]) -> dict[str, list[Item]]:
    """Label -> the files of this model, one for each of its seeds.

    Raises UserError where the two differ in number, or where a label has a file twice.
    """
    if len(labels) != len(paths):
        raise UserError(
            f"--labels: {len(labels)} labels for {len(paths)} files of {option}; give one label for each file"
        )
    groups: dict[str, list[Item]] = {}
    for label, path in zip(labels, paths, strict=True):
        group = groups.setdefault(label, [])
        if path in group:
            raise UserError(f"{option}: {path} is given twice for {label}; name the file of each seed")
        group.append(path)
    return groups


def paired(labels: Sequence[str], option: str, paths: Sequence[Item]) -> dict[str, Item]:
    """Label -> the only file of this model; UserError as `grouped`, and where a label is repeated."""
    groups = grouped(labels, option, paths)
    for label, files in groups.items():
        if len(files) > 1:
            raise UserError(f"--labels: {label} is given twice; every model needs a label of its own")
    return {label: path for label, [path] in groups.items()}
