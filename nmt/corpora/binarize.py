"""Turn the selected text into word ids, shuffled once with the seed, in files that training maps into memory.

A folder holds, for each side, the ids of all sentences end to end (`source.ids`, `target.ids`: little-endian
uint16 or uint32, no end-of-sentence), where each sentence starts (`source.offsets.npy`,
`target.offsets.npy`: int64, one more than there are pairs), and `meta.json`.

Memory does not hold the text: it is dealt out to files, one for each part of the new order that is sorted in memory.
What grows is 16 bytes a pair: its place in either order and its two lengths.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from nmt.corpora.arrays import read_array, write_array
from nmt.corpora.pairs import read_byte_pairs, read_pairs, split_words
from nmt.corpora.shortlist import Shortlist
from nmt.system.files import DISK_FULL, UserError, partial_name, read_json, warn, write_json
from nmt.system.progress import Progress

SIDES = ("source", "target")
DTYPES = {name: np.dtype(name) for name in ("<u2", "<u4")}
OFFSET = np.dtype("<i8")
PAIRS_A_PART = 1 << 18
PAIRS_A_CHUNK = 50_000

Ids = NDArray[np.unsignedinteger[Any]]
Lengths = NDArray[np.int32]
Order = NDArray[np.uint32]


class Bitext:
    """The binarized training text of a folder, memory-mapped: sentence pairs by number, in shuffled order.

    `source_lengths` and `target_lengths` are the words of each sentence, int32, shape (pairs,).
    Raises UserError where a file is missing, truncated or does not agree with meta.json.
    """

    source_lengths: Lengths
    target_lengths: Lengths

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = folder = Path(folder)
        self.meta: dict[str, Any] = read_json(folder / "meta.json")
        try:
            self._pairs = int(self.meta["pairs"])
            dtype = DTYPES[self.meta["dtype"]]
            words: dict[str, int] = self.meta["words"]
            source_words, target_words = int(words["source"]), int(words["target"])
        except (KeyError, TypeError, ValueError):
            raise UserError(f"{folder / 'meta.json'}: not as this version writes it; binarize again") from None
        self._source, self._source_offsets, self.source_lengths = _open_side(
            folder, "source", self._pairs, source_words, dtype
        )
        self._target, self._target_offsets, self.target_lengths = _open_side(
            folder, "target", self._pairs, target_words, dtype
        )

    def __len__(self) -> int:
        return self._pairs

    def source(self, pair: int) -> Ids:
        """The ids of the source sentence of `pair`, shape (words,), read-only, no EOS."""
        return self._source[self._source_offsets[pair] : self._source_offsets[pair + 1]]

    def target(self, pair: int) -> Ids:
        """The ids of the target sentence of `pair`, shape (words,), read-only, no EOS."""
        return self._target[self._target_offsets[pair] : self._target_offsets[pair + 1]]


def _open_side(
    folder: Path, side: str, pairs: int, words: int, dtype: np.dtype[Any]
) -> tuple[Ids, NDArray[np.int64], Lengths]:
    """The mapped ids, shape (words,), the mapped offsets, (pairs + 1,), and the lengths, (pairs,), of one side."""
    ids_path, offsets_path = folder / f"{side}.ids", folder / f"{side}.offsets.npy"
    try:
        size = ids_path.stat().st_size
    except FileNotFoundError as error:
        raise UserError(f"{error.filename}: no such file; binarize again") from None
    if size != words * dtype.itemsize:
        raise UserError(f"{ids_path}: {size} bytes where meta.json wants {words * dtype.itemsize}; binarize again")
    # as plain arrays: indexing a memmap object costs several times as much
    offsets = np.asarray(read_array(offsets_path, OFFSET))
    if offsets.shape == (pairs + 1,) and offsets[0] == 0 and offsets[-1] == words:
        lengths = np.empty(pairs, np.int32)
        np.subtract(offsets[1:], offsets[:-1], out=lengths, casting="same_kind")
        if lengths.min() > 0:
            return np.asarray(np.memmap(ids_path, dtype=dtype, mode="r", shape=(words,))), offsets, lengths
    raise UserError(f"{offsets_path}: does not agree with meta.json; binarize again")


@contextmanager
def _new_folder(final: Path) -> Iterator[Path]:
    """Yield an empty folder beside `final` that takes its place on success and goes away on failure.

    Raises UserError where the disk is full.
    """
    if final.is_file() or (final.is_dir() and any(final.iterdir()) and not (final / "meta.json").is_file()):
        raise UserError(f"{final}: is there already and is no binarized text; remove it or name another folder")
    final.parent.mkdir(parents=True, exist_ok=True)
    partial, former = partial_name(final), final.with_name(f".{final.name}.former")
    for leftover in (partial, former):
        shutil.rmtree(leftover, ignore_errors=True)
    partial.mkdir()
    try:
        yield partial
        if final.exists():
            os.replace(final, former)
        os.replace(partial, final)
        shutil.rmtree(former, ignore_errors=True)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise UserError(f"{final}: no space left; nothing was changed, free some and repeat") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _count(texts: list[Path]) -> tuple[int, int]:
    """How many pairs have words on both sides, and how many have not."""
    kept = dropped = 0
    for source, target in read_byte_pairs(*texts):
        if source.strip(b" ") and target.strip(b" "):
            kept += 1
        else:
            dropped += 1
    return kept, dropped


def _shuffled(pairs: int, seed: int) -> Order:
    """The pairs in their new order, shape (pairs,)."""
    order = np.arange(pairs, dtype=np.uint32)
    np.random.default_rng(seed).shuffle(order)
    return order


def _part(folder: Path, side: str, first: int) -> Path:
    """The file of the ids of the part of the new order that begins at `first`; it has them in the text's order."""
    return folder / f"{side}.{first}.part"


def _deal(
    texts: list[Path], shortlists: list[Shortlist], order: Order, dtype: np.dtype[Any], folder: Path
) -> list[Lengths]:
    """Write the ids of every pair to the files of its part; return the lengths of each side, in the text's order."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=order.dtype)
    lengths = [np.empty(len(order), np.int32) for _ in SIDES]
    with ExitStack() as stack, Progress("binarize", len(order), "pairs") as progress:
        files = [
            [stack.enter_context(open(_part(folder, side, first), "wb")) for side in SIDES]
            for first in range(0, len(order), PAIRS_A_PART)
        ]
        words = ([split_words(line) for line in pair] for pair in read_pairs(*texts))
        for number, (place, sides) in enumerate(zip(places, progress.over(filter(all, words)), strict=True)):
            for side, file in enumerate(files[place // PAIRS_A_PART]):
                lengths[side][number] = len(sides[side])
                file.write(np.array(shortlists[side].ids(sides[side]), dtype=dtype).tobytes())
    return lengths


def _starts(lengths: Lengths) -> NDArray[np.int64]:
    """Where sentences of these lengths start, and where the last one ends; shape (pairs + 1,)."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


def _gather(
    folder: Path, side: str, order: Order, lengths: Lengths, dtype: np.dtype[Any], file: BinaryIO
) -> Iterator[NDArray[np.int64]]:
    """Write the sentences of one side to `file` in the new order, part by part; yield where they start and end."""
    end = 0
    yield np.zeros(1, np.int64)
    for first in range(0, len(order), PAIRS_A_PART):
        path = _part(folder, side, first)
        ids = np.fromfile(path, dtype)
        wanted = order[first : first + PAIRS_A_PART]
        members = np.sort(wanted)
        starts = _starts(lengths[members])
        for chunk in np.split(wanted, range(PAIRS_A_CHUNK, len(wanted), PAIRS_A_CHUNK)):
            positions = _starts(lengths[chunk])
            shift = np.repeat(starts[np.searchsorted(members, chunk)] - positions[:-1], lengths[chunk])
            # bytes, not ndarray.tofile: that one hides a full disk's errno
            file.write(ids[shift + np.arange(positions[-1])].tobytes())
            yield positions[1:] + end
            end += int(positions[-1])
        path.unlink()


def binarize(texts: list[Path], shortlists: list[Shortlist], seed: int, output: Path) -> None:
    """Write the binarized form of two aligned texts to the folder `output`.

    Pairs with an empty side are dropped and counted in meta.json.
    Raises UserError where the sides are unequal or nothing is left.
    """
    symbols = {side: len(shortlist) for side, shortlist in zip(SIDES, shortlists, strict=True)}
    dtype = DTYPES["<u2" if max(symbols.values()) <= 1 << 16 else "<u4"]
    pairs, dropped = _count(texts)
    if not pairs:
        raise UserError(f"{texts[0]}, {texts[1]}: no pair with words on both sides; check data selection")
    if dropped:
        warn(f"{texts[0]}, {texts[1]}: {dropped} pairs with an empty side were dropped")
    with _new_folder(output) as folder:
        order = _shuffled(pairs, seed)
        lengths = _deal(texts, shortlists, order, dtype, folder)
        for side, side_lengths in zip(SIDES, lengths, strict=True):
            with open(folder / f"{side}.ids", "wb") as file:
                starts = _gather(folder, side, order, side_lengths, dtype, file)
                write_array(folder / f"{side}.offsets.npy", OFFSET, starts)
                file.flush()
                os.fsync(file.fileno())
        words = {side: int(each.sum(dtype=np.int64)) for side, each in zip(SIDES, lengths, strict=True)}
        write_json(
            folder / "meta.json",
            {
                "pairs": pairs,
                "dropped": dropped,
                "words": words,
                "dtype": dtype.str,
                "symbols": symbols,
                "seed": seed,
            },
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `python -m nmt binarize`."""
    parser.add_argument("--texts", type=Path, nargs=2, required=True, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--shortlists", type=Path, nargs=2, required=True, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--seed", type=int, required=True, help="of the one shuffle")
    parser.add_argument("--output", type=Path, required=True, help="a folder, replaced as a whole")


def run(arguments: argparse.Namespace) -> None:
    """Binarize the training text."""
    if arguments.seed < 0:
        raise UserError(f"seed {arguments.seed}: it must not be negative")
    shortlists = [Shortlist.read(path) for path in arguments.shortlists]
    binarize(arguments.texts, shortlists, arguments.seed, arguments.output)
