"""One-dimensional arrays in .npy files, written in pieces so that an array need not fit into memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from nmt.system.files import UserError, atomic


def write_array(path: Path, dtype: np.dtype[Any], pieces: Iterable[NDArray[Any]]) -> None:
    """Write the concatenation of `pieces` as one array to `path`, atomically."""
    count = 0
    with atomic(path) as partial, open(partial, "wb") as file:
        _write_header(file, dtype, count)
        for piece in pieces:
            # ndarray.tofile would hide the errno of a full disk
            file.write(piece.astype(dtype, copy=False).tobytes())
            count += len(piece)
        file.seek(0)
        _write_header(file, dtype, count)


def _write_header(file: BinaryIO, dtype: np.dtype[Any], count: int) -> None:
    """Write the header for `count` elements; numpy pads it, so its length is the same for every count."""
    header = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": (count,)}
    npy.write_array_header_1_0(file, header)


def read_array(path: Path, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array in `path`, memory-mapped. Raises UserError if the file is missing, truncated or of another type."""
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (ValueError, EOFError) as error:
        raise UserError(f"{path}: truncated or not an array ({error}); make it again") from None
    if array.dtype != dtype or array.ndim != 1:
        raise UserError(f"{path}: not an array as this version writes it; make it again")
    return array
