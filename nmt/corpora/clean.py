"""Find the pairs that must not be trained on, and record the words and a digest of each pair, for data selection.

A pair is left out if a side is empty, or if a side is a line of the held-out sets (development and test). Later steps
join the records of all corpora (`read_cleaned`) and, if the setting `drop_duplicates` says so, mark the duplicates
among them: a record takes a few bytes, so those of tens of millions of pairs fit into memory. The text is read as
bytes, which is faster; held-out text must be UTF-8.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate, groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.corpora.arrays import in_pieces, read_array, write_array
from nmt.corpora.pairs import read_byte_pairs, read_pairs
from nmt.system.errors import UserError
from nmt.system.options import Output
from nmt.system.progress import Progress

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


def _record(pair: Pair, held_out: Sequence[Set[bytes]]) -> tuple[int, int, int, int]:
    """The record of a pair; `held_out` has the held-out lines of each side."""
    source, target = map(_spaced, pair)
    source_words, target_words = len(source.split()), len(target.split())
    if not source_words or not target_words:
        state = State.EMPTY
    elif source in held_out[0] or target in held_out[1]:
        state = State.HELD_OUT
    else:
        state = State.CLEAN
    digest = hashlib.blake2b(source + b"\n" + target, digest_size=8).digest()
    return int.from_bytes(digest, "little"), source_words, target_words, state


def _spaced(line: bytes) -> bytes:
    """The line with single spaces, for comparisons."""
    return b" ".join(line.split())


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
    """The text that the options of `add_cleaned_arguments` name. Raises UserError if it has no clean pair."""
    files = pair_files(arguments.sources, arguments.targets)
    text = read_cleaned(arguments.names, files, arguments.cleaned, arguments.settings.drop_duplicates)
    if not text.clean.any():
        corpora = ", ".join(text.corpora())
        raise UserError(f"{corpora}: no clean pair, all are empty or held out; check the corpora")
    return text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"), help="tokenized")
    parser.add_argument("--held-out-sources", nargs="*", type=Path, default=[], help="development and test sets")
    parser.add_argument("--held-out-targets", nargs="*", type=Path, default=[])
    parser.add_argument("--output", type=Output, required=True, help="the records, .npy")


def run(arguments: argparse.Namespace) -> None:
    held_out = pair_files(arguments.held_out_sources, arguments.held_out_targets, "held-out-")
    held_lines: tuple[set[bytes], set[bytes]] = (set(), set())
    for files in held_out:
        for pair in read_pairs(*files):
            for side, line in zip(held_lines, pair, strict=True):
                side.add(_spaced(line.encode()))
    with Progress(f"clean {arguments.texts[0].name}", None, "pairs") as progress:
        pairs = progress.over(read_byte_pairs(*arguments.texts))
        write_array(arguments.output, RECORD, in_pieces((_record(pair, held_lines) for pair in pairs), RECORD))
