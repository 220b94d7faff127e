"""The cleaned training text: all corpora as one text of numbered pairs, with a few bytes of memory for each pair.

The step `clean` writes a record for each pair of a part; this module joins the records of all parts and, if the setting
`drop_duplicates` says so, marks the duplicates among them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate, groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.corpora.arrays import read_array
from nmt.corpora.pairs import read_byte_pairs
from nmt.settings.sections import Select
from nmt.system.files import UserError

Pair = tuple[bytes, bytes]
Files = tuple[Path, Path]

BUCKETS = 16  # duplicates are searched for in one bucket of the digests after another, which saves memory


class State(IntEnum):
    """Whether a pair may be selected (CLEAN) or why not."""

    CLEAN = 0
    EMPTY = 1
    HELD_OUT = 2
    DUPLICATE = 3


# The record of a pair: 17 bytes.
RECORD = np.dtype([("digest", "<u8"), ("source_words", "<u4"), ("target_words", "<u4"), ("state", "u1")])


@dataclass(frozen=True)
class CleanedText:
    """The pairs of all parts in order, numbered from 0.

    A part is a corpus or a shard of one; the shards of a corpus share its name and follow one another.
    """

    names: list[str]
    files: list[Files]
    sizes: list[int]  # pairs in each part
    source_words: NDArray[np.uint32]  # shape (pairs,)
    target_words: NDArray[np.uint32]  # shape (pairs,)
    states: NDArray[np.uint8]  # State, shape (pairs,)

    @property
    def clean(self) -> NDArray[np.bool_]:
        """Which pairs may be selected, shape (pairs,)."""
        return self.states == State.CLEAN

    def corpora(self) -> dict[str, slice]:
        """The pairs of each corpus, as a slice of all pairs."""
        places: dict[str, slice] = {}
        for name, size, end in zip(self.names, self.sizes, accumulate(self.sizes), strict=True):
            places[name] = slice(places[name].start if name in places else end - size, end)
        return places

    def pairs(self) -> Iterator[Pair]:
        """Yield all pairs in order. Raises UserError if a part has changed since it was cleaned."""
        for files, size in zip(self.files, self.sizes, strict=True):
            count = 0
            for pair in read_byte_pairs(*files):
                yield pair
                count += 1
            if count != size:
                raise UserError(f"{files[0]}: {count} lines, but {size} when it was cleaned; clean it again")

    def check_clean(self) -> None:
        """Raise UserError if no pair is clean."""
        if not self.clean.any():
            corpora = ", ".join(self.corpora())
            raise UserError(f"{corpora}: no clean pair, all are empty or held out; check the corpora")


def read_cleaned(
    names: list[str], files: list[Files], records: list[Path], drop_duplicates: bool = True
) -> CleanedText:
    """The text of cleaned parts; with `drop_duplicates`, every repetition of an earlier clean pair is marked as one.

    Raises UserError if the three lists differ in length, or if the parts of a corpus do not follow one another.
    """
    if not len(names) == len(files) == len(records):
        raise UserError(
            f"{len(names)} names, {len(files)} pairs of files, {len(records)} files of records; give one each"
        )
    if len(list(groupby(names))) != len(set(names)):
        raise UserError(f"{' '.join(names)}: name the parts of a corpus one after the other")
    sizes = [len(read_array(path, RECORD)) for path in records]
    columns = {name: np.empty(sum(sizes), RECORD[name]) for name in RECORD.names or ()}
    for path, size, end in zip(records, sizes, accumulate(sizes), strict=True):  # one at a time, to save memory
        part = read_array(path, RECORD)
        for name, column in columns.items():
            column[end - size : end] = part[name]
    if drop_duplicates:
        mark_duplicates(columns["state"], columns["digest"])
    return CleanedText(names, files, sizes, columns["source_words"], columns["target_words"], columns["state"])


def mark_duplicates(states: NDArray[np.uint8], digests: NDArray[np.uint64]) -> None:
    """Mark each clean pair that has the digest of an earlier clean pair; both arrays have the shape (pairs,)."""
    buckets = digests.view(np.uint8)[:: digests.itemsize] % BUCKETS  # by the lowest byte
    for bucket in range(BUCKETS):
        members = np.flatnonzero((buckets == bucket) & (states == State.CLEAN))
        order = members[np.argsort(digests[members], kind="stable")]
        ordered = digests[order]
        states[order[1:][ordered[1:] == ordered[:-1]]] = State.DUPLICATE


def pair_files(sources: Sequence[Path], targets: Sequence[Path], flag: str = "") -> list[Files]:
    """The file pairs given by the options --FLAGsources and --FLAGtargets. Raises UserError if one list is longer."""
    if len(sources) != len(targets):
        raise UserError(f"--{flag}sources names {len(sources)} files, --{flag}targets {len(targets)}; name pairs")
    return list(zip(sources, targets, strict=True))


def add_cleaned_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a cleaned text."""
    parser.add_argument("--names", nargs="+", required=True, help="the corpus of each part, in order")
    parser.add_argument("--sources", nargs="+", type=Path, required=True, help="tokenized text, a file for each part")
    parser.add_argument("--targets", nargs="+", type=Path, required=True)
    parser.add_argument(
        "--cleaned", nargs="+", type=Path, required=True, help="records from the step clean, a file for each part"
    )


def cleaned_text(arguments: argparse.Namespace) -> CleanedText:
    """The text that the options of `add_cleaned_arguments` name, cleaned by `arguments.settings`."""
    settings: Select = arguments.settings
    files = pair_files(arguments.sources, arguments.targets)
    return read_cleaned(arguments.names, files, arguments.cleaned, settings.drop_duplicates)
