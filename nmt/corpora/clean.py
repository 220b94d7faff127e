"""Survey tokenized text for data selection: the words of each pair, a digest of it, and whether it may be kept at all.

A pair with an empty side is left out of selection, and so is one of which a side is a line of the held-out sets
(development and test). Repetitions are found later, among the digests of all corpora: what selection must know of a
pair then fits into a few bytes, and tens of millions of pairs into memory. Text is handled as bytes: nothing here
depends on what the characters are.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate, groupby, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.corpora.arrays import read_array, write_array
from nmt.corpora.pairs import byte_lines, read_byte_pairs
from nmt.system.files import UserError
from nmt.system.progress import Progress

Pair = tuple[bytes, bytes]
Files = tuple[Path, Path]

PAIRS_A_PIECE = 10_000
BUCKETS = 16  # repetitions are looked for in so many parts of the text, one after the other, to save memory


class State(IntEnum):
    """What becomes of a pair before the ranking."""

    CLEAN = 0
    EMPTY = 1
    HELD_OUT = 2
    DUPLICATE = 3


# What is known of a pair: 17 bytes.
RECORD = np.dtype([("digest", "<u8"), ("source_words", "<u4"), ("target_words", "<u4"), ("state", "u1")])


def count_words(line: bytes) -> int:
    """The words of a tokenized line."""
    return len(line.split())


def survey(pairs: Iterable[Pair], held_out: Sequence[frozenset[bytes]]) -> Iterator[NDArray[np.void]]:
    """The records of `pairs` in order, a piece at a time; `held_out` are the lines of each side to keep out."""
    records = (_record(pair, held_out) for pair in pairs)
    while len(piece := np.fromiter(islice(records, PAIRS_A_PIECE), RECORD)):
        yield piece


def _record(pair: Pair, held_out: Sequence[frozenset[bytes]]) -> tuple[int, int, int, int]:
    source, target = pair
    source_words, target_words = count_words(source), count_words(target)
    if not source_words or not target_words:
        state = State.EMPTY
    elif source in held_out[0] or target in held_out[1]:
        state = State.HELD_OUT
    else:
        state = State.CLEAN
    digest = hashlib.blake2b(source + b"\n" + target, digest_size=8).digest()
    return int.from_bytes(digest, "little"), source_words, target_words, state


# ---- all corpora as one text


@dataclass(frozen=True)
class Text:
    """All that is surveyed, part after part, as one text of numbered pairs: a few numbers each.

    A part is a corpus or a shard of one; the shards of a corpus bear its name and stand together.
    """

    names: list[str]
    files: list[Files]
    sizes: list[int]  # pairs of each part
    source_words: NDArray[np.uint32]  # shape (pairs,)
    target_words: NDArray[np.uint32]  # shape (pairs,)
    states: NDArray[np.uint8]  # State, shape (pairs,)

    @property
    def clean(self) -> NDArray[np.bool_]:
        """Which pairs may be kept, shape (pairs,)."""
        return self.states == State.CLEAN

    def corpora(self) -> dict[str, slice]:
        """The pairs of each corpus."""
        places: dict[str, slice] = {}
        for name, size, end in zip(self.names, self.sizes, accumulate(self.sizes), strict=True):
            places[name] = slice(places[name].start if name in places else end - size, end)
        return places

    def pairs(self) -> Iterator[Pair]:
        """All pairs in order; UserError where a part has become another since it was surveyed."""
        for files, size in zip(self.files, self.sizes, strict=True):
            count = 0
            for pair in read_byte_pairs(*files):
                yield pair
                count += 1
            if count != size:
                raise UserError(f"{files[0]}: has {count} lines, its survey {size}; survey it again")


def read_text(names: list[str], files: list[Files], surveys: list[Path]) -> Text:
    """The text of surveyed parts; every repetition of an earlier pair is marked as such.

    Raises UserError where the three lists differ in length or the parts of a corpus do not stand together.
    """
    if not len(names) == len(files) == len(surveys):
        raise UserError(f"{len(names)} names, {len(files)} pairs of files, {len(surveys)} surveys; give one each")
    if len(list(groupby(names))) != len(set(names)):
        raise UserError(f"{' '.join(names)}: name the parts of a corpus one after the other")
    sizes = [len(read_array(path, RECORD)) for path in surveys]
    columns = {name: np.empty(sum(sizes), RECORD[name]) for name in RECORD.names or ()}
    for path, size, end in zip(surveys, sizes, accumulate(sizes), strict=True):  # one at a time, to save memory
        records = read_array(path, RECORD)
        for name, column in columns.items():
            column[end - size : end] = records[name]
    mark_duplicates(columns["state"], columns["digest"])
    return Text(names, files, sizes, columns["source_words"], columns["target_words"], columns["state"])


def mark_duplicates(states: NDArray[np.uint8], digests: NDArray[np.uint64]) -> None:
    """Among clean pairs mark every one whose digest an earlier clean pair has; both arguments have shape (pairs,)."""
    buckets = digests.view(np.uint8)[:: digests.itemsize] % BUCKETS  # by the lowest byte
    for bucket in range(BUCKETS):
        members = np.flatnonzero((buckets == bucket) & (states == State.CLEAN))
        order = members[np.argsort(digests[members], kind="stable")]
        ordered = digests[order]
        states[order[1:][ordered[1:] == ordered[:-1]]] = State.DUPLICATE


# ---- command line


def pair_files(sources: Sequence[Path], targets: Sequence[Path], flag: str = "") -> list[Files]:
    """The file pairs of the options --FLAGsources and --FLAGtargets."""
    if len(sources) != len(targets):
        raise UserError(f"--{flag}sources names {len(sources)} files, --{flag}targets {len(targets)}; name pairs")
    return list(zip(sources, targets, strict=True))


def add_text_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags that name a surveyed text."""
    parser.add_argument("--names", nargs="+", required=True, help="the corpus of each part, in order")
    parser.add_argument("--sources", nargs="+", type=Path, required=True, help="tokenized, one file a part")
    parser.add_argument("--targets", nargs="+", type=Path, required=True)
    parser.add_argument("--surveys", nargs="+", type=Path, required=True, help="of the step survey, one a part")


def text_of(arguments: argparse.Namespace) -> Text:
    """The text that the flags of `add_text_arguments` name."""
    return read_text(arguments.names, pair_files(arguments.sources, arguments.targets), arguments.surveys)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `python -m nmt survey`."""
    parser.add_argument("--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--held-out-sources", nargs="*", type=Path, default=[], help="development and test sets")
    parser.add_argument("--held-out-targets", nargs="*", type=Path, default=[])
    parser.add_argument("--output", type=Path, required=True, help="the records, .npy")


def run(arguments: argparse.Namespace) -> None:
    """Survey one corpus, or one shard of it."""
    held_out = pair_files(arguments.held_out_sources, arguments.held_out_targets, "held-out-")
    held_lines = [
        frozenset(line for files in held_out for line in byte_lines(files[side]) if line.strip()) for side in range(2)
    ]
    with Progress(f"survey {arguments.texts[0].name}", None, "pairs") as progress:
        pairs = progress.over(read_byte_pairs(*arguments.texts))
        write_array(arguments.output, RECORD, survey(pairs, held_lines))
