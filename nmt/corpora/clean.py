"""Find the pairs that must not be trained on, and record the words and a digest of each pair, for data selection.

A pair is left out if a side is empty, or if a side is a line of the held-out sets (development and test). Duplicates
are found later, among the digests of all corpora (`nmt.corpora.cleaned`): a record takes a few bytes, so the records of
tens of millions of pairs fit into memory. Text is read as bytes, since nothing here depends on its characters.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.corpora.arrays import write_array
from nmt.corpora.cleaned import RECORD, Pair, State, pair_files
from nmt.corpora.pairs import read_byte_pairs
from nmt.system.options import Output
from nmt.system.progress import Progress

PAIRS_PER_PIECE = 10_000


def count_words(line: bytes) -> int:
    """The number of words in a tokenized line."""
    return len(line.split())


def clean(pairs: Iterable[Pair], held_out: Sequence[Set[bytes]]) -> Iterator[NDArray[np.void]]:
    """Yield the records of `pairs` in order, in pieces; `held_out` has the held-out lines of each side."""
    records = (_record(pair, held_out) for pair in pairs)
    while len(piece := np.fromiter(islice(records, PAIRS_PER_PIECE), RECORD)):
        yield piece


def _record(pair: Pair, held_out: Sequence[Set[bytes]]) -> tuple[int, int, int, int]:
    source, target = map(_spaced, pair)
    source_words, target_words = count_words(source), count_words(target)
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"), help="tokenized")
    parser.add_argument("--held-out-sources", nargs="*", type=Path, default=[], help="development and test sets")
    parser.add_argument("--held-out-targets", nargs="*", type=Path, default=[])
    parser.add_argument("--output", type=Output, required=True, help="the records, .npy")


def run(arguments: argparse.Namespace) -> None:
    held_out = pair_files(arguments.held_out_sources, arguments.held_out_targets, "held-out-")
    held_lines: tuple[set[bytes], set[bytes]] = (set(), set())
    for files in held_out:
        for pair in read_byte_pairs(*files):
            for side, line in zip(held_lines, pair, strict=True):
                side.add(_spaced(line))
    with Progress(f"clean {arguments.texts[0].name}", None, "pairs") as progress:
        pairs = progress.over(read_byte_pairs(*arguments.texts))
        write_array(arguments.output, RECORD, clean(pairs, held_lines))
