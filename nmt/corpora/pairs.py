"""Aligned text: two files with a sentence on each line; line n of one is the translation of line n of the other."""

from __future__ import annotations

import os
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from typing import TypeVar

from nmt.system.compression import is_compressed
from nmt.system.errors import UserError
from nmt.system.files import open_once
from nmt.system.text import read_lines

LONGEST = 1000  # words of a sentence that a model is given in use; memory grows with them
Line = TypeVar("Line", str, bytes)
Name = str | os.PathLike[str]


def read_pairs(source: Name, target: Name) -> Iterator[tuple[str, str]]:
    """Yield the pairs of two aligned UTF-8 files. Raises UserError as `align` does."""
    return align(read_lines(source), read_lines(target), source, target)


def read_byte_pairs(source: Name, target: Name) -> Iterator[tuple[bytes, bytes]]:
    """Like `read_pairs`, with lines as bytes, for steps that do not depend on characters."""
    return align(byte_lines(source), byte_lines(target), source, target)


def byte_lines(path: Name) -> Iterator[bytes]:
    """Yield the lines of a file as bytes, split at newlines only, without a byte order mark of UTF-8.

    Raises UserError if there is no such file, if it is compressed, or if it begins with a byte order mark of UTF-16.
    """
    try:
        with open_once(path) as file:
            for first in islice(file, 1):
                if is_compressed(first):
                    raise UserError(f"{path}: compressed; decompress it")
                if first.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
                    raise UserError(f"{path}: in UTF-16; convert the file to UTF-8")
                yield first.removesuffix(b"\n").removeprefix(BOM_UTF8)
            for line in file:
                yield line.removesuffix(b"\n")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None


def align(sources: Iterable[Line], targets: Iterable[Line], source: Name, target: Name) -> Iterator[tuple[Line, Line]]:
    """Yield the pairs of `sources` and `targets`, the lines of the files that `source` and `target` name.

    Raises UserError at the end, with the number of lines of both files, if one is longer.
    """
    source_count = target_count = 0
    for source_line, target_line in zip_longest(sources, targets):
        source_count += source_line is not None
        target_count += target_line is not None
        if source_line is not None and target_line is not None:
            yield source_line, target_line
    if source_count != target_count:
        raise UserError(
            f"{source} has {source_count} lines, {target} has {target_count}; "
            "the two sides must be aligned line by line"
        )


def split_words(line: str) -> list[str]:
    """The words of a tokenized line, which only spaces (U+0020) separate."""
    return [word for word in line.split(" ") if word]
