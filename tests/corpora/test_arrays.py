"""nmt.corpora.arrays: concatenated pieces are an array that numpy reads."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from nmt.corpora.arrays import read_array, write_array
from nmt.system.errors import UserError

DTYPE = np.dtype([("key", "<u8"), ("flag", "u1")])


@pytest.mark.parametrize("sizes", [[], [0], [3], [1, 0, 12345]])
def test_pieces_are_one_array(tmp_path: Path, sizes: list[int]) -> None:
    pieces = [np.array([(1 << 63, number % 256) for number in range(size)], DTYPE) for size in sizes]
    write_array(tmp_path / "a.npy", DTYPE, iter(pieces))
    whole = np.concatenate([np.zeros(0, DTYPE), *pieces])
    assert np.array_equal(np.load(tmp_path / "a.npy"), whole)
    assert np.array_equal(read_array(tmp_path / "a.npy", DTYPE), whole)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    with pytest.raises(UserError, match=r"a\.npy: no such file"):
        read_array(path, DTYPE)
    write_array(path, DTYPE, [np.zeros(9, DTYPE)])
    with pytest.raises(UserError, match="make it again"):
        read_array(path, np.dtype("<f4"))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(UserError, match="truncated"):
        read_array(path, DTYPE)
    path.write_bytes(b"text")
    with pytest.raises(UserError, match="make it again"):
        read_array(path, DTYPE)
    path.write_bytes(b"")
    with pytest.raises(UserError, match="make it again"):
        read_array(path, DTYPE)


def test_a_piece_that_fails_leaves_the_file_unchanged(tmp_path: Path) -> None:
    def pieces():  # type: ignore[no-untyped-def]
        yield np.zeros(9, DTYPE)
        raise UserError("broken")

    write_array(tmp_path / "a.npy", DTYPE, [np.zeros(4, DTYPE)])
    with pytest.raises(UserError, match="broken"):
        write_array(tmp_path / "a.npy", DTYPE, pieces())
    assert len(read_array(tmp_path / "a.npy", DTYPE)) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


def test_damaged_headers_are_one_line(tmp_path: Path) -> None:
    """What numpy raises at them is past telling: among much else, errors of Python's tokenizer."""
    path, draw = tmp_path / "a.npy", random.Random(1)
    write_array(path, DTYPE, [np.zeros(9, DTYPE)])
    whole = path.read_bytes()
    for _ in range(300):
        damaged, place = bytearray(whole), draw.randrange(100)
        damaged[place : place + draw.randrange(3)] = draw.choice([b"(", b"'", b"9", b"\n", b"\0", b"{[("])
        if damaged == whole:
            continue
        path.write_bytes(damaged)
        with pytest.raises(UserError, match="make it again"):
            read_array(path, DTYPE)
