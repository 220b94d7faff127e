"""One-dimensional arrays in .npy files, written in pieces so that an array need not fit into memory."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from nmt.system.errors import UserError
from nmt.system.files import atomic, check_regular

PIECE = 10_000  # elements


def in_pieces(elements: Iterable[Any], dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """Yield the elements in arrays of at most PIECE."""
    rest = iter(elements)
    while len(piece := np.fromiter(islice(rest, PIECE), dtype)):
        yield piece


def write_array(path: Path, dtype: np.dtype[Any], pieces: Iterable[NDArray[Any]]) -> None:
    """Write the concatenation of `pieces` as one array to `path`, atomically."""
    count = 0
    with atomic(path) as partial, open(partial, "wb") as file:
        file.write(_header(dtype, count))
        for piece in pieces:
            # ndarray.tofile would hide the errno of a full disk
            file.write(piece.astype(dtype, copy=False).tobytes())
            count += len(piece)
        file.seek(0)
        file.write(_header(dtype, count))


def _header(dtype: np.dtype[Any], count: int) -> bytes:
    """The header for `count` elements; numpy pads it, so its length is the same for every count."""
    header = io.BytesIO()
    npy.write_array_header_1_0(header, {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": (count,)})
    return header.getvalue()


def read_array(path: Path, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array in `path`, memory-mapped. Raises UserError unless `write_array` wrote the file, with this type.

    The header is compared, not parsed, because numpy may raise any error for a damaged one.
    """
    check_regular(path)
    start = len(_header(dtype, 0))
    count, rest = divmod(path.stat().st_size - start, dtype.itemsize)
    with open(path, "rb") as file:
        if rest or file.read(start) != _header(dtype, max(0, count)):
            raise UserError(f"{path}: truncated, or not an array as this version writes it; make it again")
    return np.memmap(path, dtype, "r", start, (count,)) if count else np.empty(0, dtype)
