"""Convert the selected text to word ids, shuffled once with the seed, in files that training maps into memory.

The output folder holds for each side the concatenated ids of all sentences (`source.ids`, `target.ids`: little-endian
uint16 or uint32, without end-of-sentence symbols) and the offset at which each sentence starts (`source.offsets.npy`,
`target.offsets.npy`: int64, shape (pairs + 1,)), and `meta.json`, which has the digests of these files and of the
shortlists.

The whole text is never in memory: the shuffled order is cut into buckets, each small enough to be sorted in memory, and
the ids are first written to a file for each bucket. Each pair takes 16 bytes of memory, for its place in both orders
and its two lengths.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from nmt.corpora.arrays import read_array, write_array
from nmt.corpora.pairs import read_pairs, split_words
from nmt.corpora.pieces import SPACE
from nmt.corpora.shortlist import Shortlist
from nmt.corpora.subwords import MARK
from nmt.settings.checks import choice, each, integer, read_values, text
from nmt.system.checksums import recorded, sha256, unreplaced, verify
from nmt.system.errors import UserError, warn
from nmt.system.files import atomic_folder, check_regular
from nmt.system.options import ReplacedFolder
from nmt.system.progress import Progress
from nmt.system.text import read_lines, write_json

META = "meta.json"
SIDES = ("source", "target")
FILES = [f"{side}.{ending}" for side in SIDES for ending in ("ids", "offsets.npy")]
DTYPES = {name: np.dtype(name) for name in ("<u2", "<u4")}
OFFSET = np.dtype("<i8")
PAIRS_PER_BUCKET = 1 << 18
PAIRS_PER_CHUNK = 50_000

Ids = NDArray[np.unsignedinteger[Any]]
Lengths = NDArray[np.int32]
Order = NDArray[np.uint32]


class Bitext:
    """The binarized training text in a folder, memory-mapped: sentence pairs by number, in shuffled order.

    `source_lengths` and `target_lengths` are the lengths of the sentences in words, int32, shape (pairs,).
    Raises UserError if a file is missing or not the one that meta.json was written with.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = folder = Path(folder)
        with unreplaced(folder / META):
            meta = read_values(
                folder / META,
                pairs=integer(1),
                dtype=choice(*DTYPES),
                words=each(SIDES, integer(1)),
                shortlists=each(SIDES, text()),
                digests=each(FILES, text()),
            )
            verify(folder / META, meta["digests"], "binarize again")
            self._pairs: int = meta["pairs"]
            self.shortlists: dict[str, str] = meta["shortlists"]
            dtype, words = DTYPES[meta["dtype"]], meta["words"]
            source, target = (_open_side(folder, side, self._pairs, words[side], dtype) for side in SIDES)
        self._source, self._source_offsets, self.source_lengths = source
        self._target, self._target_offsets, self.target_lengths = target

    def require(self, shortlists: Sequence[Shortlist], names: Sequence[str]) -> None:
        """Raise UserError, with the file's name, unless these are the shortlists that made the ids of both sides."""
        for side, shortlist, name in zip(SIDES, shortlists, names, strict=True):
            if shortlist.digest() != self.shortlists[side]:
                raise UserError(f"{name}: not the shortlist of the {side} side of {self.folder}; name its own")

    def __len__(self) -> int:
        return self._pairs

    def source(self, pair: int) -> Ids:
        """The ids of the source sentence of `pair`, shape (words,), read-only, without EOS."""
        return self._source[self._source_offsets[pair] : self._source_offsets[pair + 1]]

    def target(self, pair: int) -> Ids:
        """The ids of the target sentence of `pair`, shape (words,), read-only, without EOS."""
        return self._target[self._target_offsets[pair] : self._target_offsets[pair + 1]]


def digests(shortlists: Sequence[Shortlist]) -> dict[str, str]:
    """The digest of each side's shortlist; a text and a training run recognize their shortlists by it."""
    return {side: one.digest() for side, one in zip(SIDES, shortlists, strict=True)}


def _open_side(
    folder: Path, side: str, pairs: int, words: int, dtype: np.dtype[Any]
) -> tuple[Ids, NDArray[np.int64], Lengths]:
    """One side: the mapped ids, shape (words,); the mapped offsets, (pairs + 1,); and the lengths, (pairs,)."""
    ids_path, offsets_path = folder / f"{side}.ids", folder / f"{side}.offsets.npy"
    size = ids_path.stat().st_size
    if size != words * dtype.itemsize:
        raise UserError(f"{ids_path}: {size} bytes where {META} expects {words * dtype.itemsize}; binarize again")
    # plain arrays, because indexing a memmap object takes several times longer
    offsets = np.asarray(read_array(offsets_path, OFFSET))
    if offsets.shape == (pairs + 1,) and offsets[0] == 0 and offsets[-1] == words:
        lengths = np.empty(pairs, np.int32)
        np.subtract(offsets[1:], offsets[:-1], out=lengths, casting="same_kind")
        if lengths.min() > 0:
            return np.asarray(np.memmap(ids_path, dtype=dtype, mode="r", shape=(words,))), offsets, lengths
    raise UserError(f"{offsets_path}: does not agree with {META}; binarize again")


def _words(texts: list[Path]) -> Iterator[list[list[str]]]:
    """The words of both sides of each pair."""
    return ([split_words(line) for line in pair] for pair in read_pairs(*texts))


def _check_segmented(text: Path, shortlist: Shortlist) -> None:
    """Raise UserError where the shortlist holds subwords, but the text whole words, most of which would be unknown."""
    words = (word for line in read_lines(text) for word in split_words(line))
    if shortlist.has_subwords and not any(word.endswith(MARK) or word.startswith(SPACE) for word in words):
        raise UserError(
            f"{text}: holds whole words, but its shortlist holds subwords; segment the text with their codes"
        )


def _bucket(folder: Path, side: str, first: int) -> Path:
    """The file of the bucket that begins at position `first` of the shuffled order; its ids are in the text's order."""
    return folder / f"{side}.{first}.bucket"


def _distribute(
    texts: list[Path], shortlists: list[Shortlist], order: Order, dtype: np.dtype[Any], folder: Path
) -> list[Lengths]:
    """Write the ids of every pair to its bucket; return the sentence lengths of each side in the text's order."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=order.dtype)
    lengths = [np.empty(len(order), np.int32) for _ in SIDES]
    with ExitStack() as stack, Progress("binarize", len(order), "pairs") as progress:
        files = [
            [stack.enter_context(open(_bucket(folder, side, first), "wb")) for side in SIDES]
            for first in range(0, len(order), PAIRS_PER_BUCKET)
        ]
        kept = filter(all, _words(texts))
        for number, (place, sides) in enumerate(zip(places, progress.over(kept), strict=True)):
            for side, file in enumerate(files[place // PAIRS_PER_BUCKET]):
                lengths[side][number] = len(sides[side])
                file.write(np.array(shortlists[side].ids(sides[side]), dtype=dtype).tobytes())
    return lengths


def _starts(lengths: Lengths) -> NDArray[np.int64]:
    """The offsets at which sentences of these lengths start, then the end of the last one; shape (pairs + 1,)."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


def _gather(
    folder: Path, side: str, order: Order, lengths: Lengths, dtype: np.dtype[Any], file: BinaryIO
) -> Iterator[NDArray[np.int64]]:
    """Write the sentences of one side to `file` in shuffled order, bucket by bucket; yield their offsets."""
    end = 0
    yield np.zeros(1, np.int64)
    for first in range(0, len(order), PAIRS_PER_BUCKET):
        path = _bucket(folder, side, first)
        ids = np.fromfile(path, dtype)
        wanted = order[first : first + PAIRS_PER_BUCKET]
        members = np.sort(wanted)
        starts = _starts(lengths[members])
        for chunk in np.split(wanted, range(PAIRS_PER_CHUNK, len(wanted), PAIRS_PER_CHUNK)):
            positions = _starts(lengths[chunk])
            shift = np.repeat(starts[np.searchsorted(members, chunk)] - positions[:-1], lengths[chunk])
            # ndarray.tofile would hide the errno of a full disk
            file.write(ids[shift + np.arange(positions[-1])].tobytes())
            yield positions[1:] + end
            end += int(positions[-1])
        path.unlink()


def binarize(texts: list[Path], shortlists: list[Shortlist], seed: int, output: Path) -> None:
    """Write the binarized form of two aligned texts to the folder `output`.

    Pairs with an empty side are dropped and counted in meta.json. Raises UserError if the sides have different numbers
    of lines, nothing is left, or a text is not segmented into the subwords of its shortlist.
    """
    symbols = {side: len(shortlist) for side, shortlist in zip(SIDES, shortlists, strict=True)}
    for path in texts:
        check_regular(path)  # it is read twice
    dtype = DTYPES["<u2" if max(symbols.values()) <= 1 << 16 else "<u4"]
    counts = Counter(map(all, _words(texts)))
    pairs, dropped = counts[True], counts[False]
    if not pairs:
        raise UserError(f"{texts[0]}, {texts[1]}: no pair with words on both sides; check data selection")
    for path, shortlist in zip(texts, shortlists, strict=True):
        _check_segmented(path, shortlist)
    if dropped:
        warn(f"{texts[0]}, {texts[1]}: {dropped} pairs with an empty side were dropped")
    with atomic_folder(output, "a binarized text", recorded(META, FILES)) as folder:
        order = np.arange(pairs, dtype=np.uint32)
        np.random.default_rng(seed).shuffle(order)
        lengths = _distribute(texts, shortlists, order, dtype, folder)
        for side, side_lengths in zip(SIDES, lengths, strict=True):
            with open(folder / f"{side}.ids", "wb") as file:
                starts = _gather(folder, side, order, side_lengths, dtype, file)
                write_array(folder / f"{side}.offsets.npy", OFFSET, starts)
                file.flush()
                os.fsync(file.fileno())
        words = {side: int(one.sum(dtype=np.int64)) for side, one in zip(SIDES, lengths, strict=True)}
        write_json(
            folder / META,
            {
                "pairs": pairs,
                "dropped": dropped,
                "words": words,
                "dtype": dtype.str,
                "symbols": symbols,
                "seed": seed,
                "shortlists": digests(shortlists),
                "digests": {name: sha256(folder / name) for name in FILES},
            },
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--texts",
        type=Path,
        nargs=2,
        required=True,
        metavar=("SOURCE", "TARGET"),
        help="tokenized and, where the shortlists are of subwords, segmented",
    )
    parser.add_argument("--shortlists", type=Path, nargs=2, required=True, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--seed", type=int, required=True, help="seed of the shuffle")
    parser.add_argument("--output", type=ReplacedFolder, required=True, help="folder, replaced as a whole")


def run(arguments: argparse.Namespace) -> None:
    shortlists = [Shortlist.read(path) for path in arguments.shortlists]
    binarize(arguments.texts, shortlists, arguments.seed, arguments.output)
