"""Turn the selected text into word ids, shuffled once with the seed, in files that training maps into memory.

A folder holds, for each side, the ids of all sentences end to end (`source.ids`, `target.ids`: little-endian
uint16 or uint32, no end-of-sentence), where each sentence starts (`source.offsets.npy`,
`target.offsets.npy`: int64, one more than there are pairs), and `meta.json`.
"""

from __future__ import annotations

import argparse
import os
import shutil
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from nmt.corpora.pairs import read_pairs, split_words
from nmt.corpora.shortlist import Shortlist
from nmt.files import UserError, read_json, warn, write_json

SIDES = ("source", "target")
DTYPES = {name: np.dtype(name) for name in ("<u2", "<u4")}
PAIRS_A_CHUNK = 50_000

Lengths = NDArray[np.int64]


class Bitext:
    """The binarized training text of a folder, memory-mapped: sentence pairs by number, in shuffled order.

    `source_lengths` and `target_lengths` are the words of each sentence, int64, shape (pairs,).
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
        self._source, self._source_offsets = _open_side(folder, "source", self._pairs, source_words, dtype)
        self._target, self._target_offsets = _open_side(folder, "target", self._pairs, target_words, dtype)
        self.source_lengths = np.diff(self._source_offsets)
        self.target_lengths = np.diff(self._target_offsets)

    def __len__(self) -> int:
        return self._pairs

    def source(self, pair: int) -> NDArray[np.unsignedinteger[Any]]:
        """The ids of the source sentence of `pair`, shape (words,), read-only, no EOS."""
        return self._source[self._source_offsets[pair] : self._source_offsets[pair + 1]]

    def target(self, pair: int) -> NDArray[np.unsignedinteger[Any]]:
        """The ids of the target sentence of `pair`, shape (words,), read-only, no EOS."""
        return self._target[self._target_offsets[pair] : self._target_offsets[pair + 1]]


def _open_side(
    folder: Path, side: str, pairs: int, words: int, dtype: np.dtype[Any]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The mapped ids, shape (words,), and the offsets, shape (pairs + 1,), of one side."""
    ids_path, offsets_path = folder / f"{side}.ids", folder / f"{side}.offsets.npy"
    try:
        size = ids_path.stat().st_size
        offsets = np.load(offsets_path, allow_pickle=False)
    except FileNotFoundError as error:
        raise UserError(f"{error.filename}: no such file; binarize again") from None
    except (ValueError, EOFError) as error:
        raise UserError(f"{offsets_path}: truncated or not an array ({error}); binarize again") from None
    if size != words * dtype.itemsize:
        raise UserError(f"{ids_path}: {size} bytes where meta.json wants {words * dtype.itemsize}; binarize again")
    if offsets.shape != (pairs + 1,) or offsets[0] != 0 or offsets[-1] != words or np.any(np.diff(offsets) < 1):
        raise UserError(f"{offsets_path}: does not agree with meta.json; binarize again")
    return np.memmap(ids_path, dtype=dtype, mode="r", shape=(words,)), offsets


@contextmanager
def _new_folder(final: Path) -> Iterator[Path]:
    """Yield an empty folder beside `final` that takes its place on success and goes away on failure."""
    if final.is_file() or (final.is_dir() and any(final.iterdir()) and not (final / "meta.json").is_file()):
        raise UserError(f"{final}: is there already and is no binarized text; remove it or name another folder")
    partial, former = final.with_name(f".{final.name}.partial"), final.with_name(f".{final.name}.former")
    for leftover in (partial, former):
        shutil.rmtree(leftover, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        if final.exists():
            os.replace(final, former)
        os.replace(partial, final)
        shutil.rmtree(former, ignore_errors=True)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _spool(
    texts: list[Path], shortlists: list[Shortlist], files: list[BinaryIO], dtype: np.dtype[Any]
) -> tuple[list[Lengths], int]:
    """Write the ids of every pair to `files` in the text's order.

    Returns the lengths of each side's sentences, and how many pairs were dropped for an empty side.
    """
    lengths = [array("q"), array("q")]
    dropped = 0
    for pair in read_pairs(*texts):
        words = [split_words(line) for line in pair]
        if not all(words):
            dropped += 1
            continue
        for side in range(2):
            lengths[side].append(len(words[side]))
            files[side].write(np.array(shortlists[side].ids(words[side]), dtype=dtype).tobytes())
    return [np.frombuffer(side, dtype=np.int64) if side else np.zeros(0, np.int64) for side in lengths], dropped


def _offsets(lengths: Lengths) -> NDArray[np.int64]:
    """Where sentences of these lengths start, and where the last one ends; shape (pairs + 1,)."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


def _gather(spool: NDArray[Any], lengths: Lengths, order: NDArray[np.int64], file: BinaryIO) -> None:
    """Write the sentences of `spool` to `file` in `order`, a chunk of pairs at a time."""
    starts = _offsets(lengths)
    for first in range(0, len(order), PAIRS_A_CHUNK):
        chunk = order[first : first + PAIRS_A_CHUNK]
        positions = _offsets(lengths[chunk])
        shift = np.repeat(starts[chunk] - positions[:-1], lengths[chunk])
        # bytes, not ndarray.tofile: that one hides a full disk's errno
        file.write(spool[shift + np.arange(positions[-1])].tobytes())


def _save(path: Path, values: NDArray[np.int64]) -> None:
    """numpy.save through memory, so that a full disk is reported as such."""
    buffer = BytesIO()
    np.save(buffer, values)
    path.write_bytes(buffer.getbuffer())


def binarize(texts: list[Path], shortlists: list[Shortlist], seed: int, output: Path) -> None:
    """Write the binarized form of two aligned texts to the folder `output`.

    Memory grows with the number of pairs (some 60 bytes each), not of words; disk is used twice over
    until the end.
    Pairs with an empty side are dropped and counted in meta.json.
    Raises UserError where the sides are unequal or nothing is left.
    """
    symbols = {side: len(shortlist) for side, shortlist in zip(SIDES, shortlists, strict=True)}
    dtype = DTYPES["<u2" if max(symbols.values()) <= 1 << 16 else "<u4"]
    with _new_folder(output) as folder:
        spools = [folder / f"{side}.spool" for side in SIDES]
        with open(spools[0], "wb") as source, open(spools[1], "wb") as target:
            lengths, dropped = _spool(texts, shortlists, [source, target], dtype)
        pairs = len(lengths[0])
        if not pairs:
            raise UserError(f"{texts[0]}, {texts[1]}: no pair with words on both sides; check data selection")
        if dropped:
            warn(f"{texts[0]}, {texts[1]}: {dropped} pairs with an empty side were dropped")
        order = np.random.default_rng(seed).permutation(pairs)
        for side, spool, side_lengths in zip(SIDES, spools, lengths, strict=True):
            with open(folder / f"{side}.ids", "wb") as file:
                _gather(np.memmap(spool, dtype=dtype, mode="r"), side_lengths, order, file)
                file.flush()
                os.fsync(file.fileno())
            _save(folder / f"{side}.offsets.npy", _offsets(side_lengths[order]))
            spool.unlink()
        words = {side: int(side_lengths.sum()) for side, side_lengths in zip(SIDES, lengths, strict=True)}
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
