"""Text files: lines, which end at newlines only, and JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from nmt.system.compression import is_compressed
from nmt.system.errors import UserError
from nmt.system.files import DISK_FULL, atomic, open_once, refusal, regular, sync


def read_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the lines of a UTF-8 file as `decode_lines` does. Raises UserError if there is no such file."""
    try:
        with open_once(path) as file:
            yield from decode_lines(file, path)
    except FileNotFoundError:
        raise UserError(f"{path or repr(path)}: no such file") from None
    except IsADirectoryError:
        raise UserError(f"{path}: a folder; name a file") from None


def decode_lines(file: Iterable[bytes], name: str | os.PathLike[str], first: int = 1) -> Iterator[str]:
    """Decode lines of UTF-8, split at newlines only; U+2028, U+0085 and form feeds stay in their line.

    A carriage return before a newline and a byte order mark at the start of the file are removed. Raises UserError,
    with `name` and the number of the line (counted from `first`), if a line is not UTF-8 or the file is compressed, and
    at the end if the lines begin or end in NULs, as in UTF-16, or end only in carriage returns.
    """
    number, nul_at_end, line = first - 1, 0, ""
    for number, raw in enumerate(file, first):
        if number == first and is_compressed(raw):
            raise UserError(f"{name}: compressed; decompress it")
        try:
            line = raw.decode("utf-8").removesuffix("\n").rstrip("\r")
        except UnicodeDecodeError as error:
            raise UserError(f"{name}: line {number} is not UTF-8 ({error.reason}); convert the file") from None
        nul_at_end += line[:1] == "\0" or line[-1:] == "\0"
        yield line.removeprefix("\ufeff") if number == 1 else line
    # In UTF-16 one of the bytes beside a newline's own is its other half, a NUL, also at the end of the file.
    if 2 * nul_at_end > number - first + (line != "\0"):
        raise UserError(
            f"{name}: {nul_at_end} lines begin or end in NULs; convert the file if it is in UTF-16, else remove them"
        )
    if number == 1 and "\r" in line:
        raise UserError(f"{name}: lines end in carriage returns; convert the file, so that they end in newlines")


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> int:
    """Write `lines`, each with a newline, to `path` atomically; return their number."""
    return write_together([(path, lines)])


def write_together(files: Sequence[tuple[str | os.PathLike[str], Iterable[str]]]) -> int:
    """Write lines to each file as `write_lines` does; return their number.

    All are on disk before the first is renamed, and the last of `files` is renamed last.
    """
    count = 0
    with ExitStack() as stack:
        # What is entered last is renamed first.
        partials = [stack.enter_context(atomic(path)) for path, _ in reversed(files)][::-1]
        for partial, (path, lines) in zip(partials, files, strict=True):
            try:
                with open(partial, "w", encoding="utf-8", newline="\n") as file:
                    for line in lines:
                        file.write(line)
                        file.write("\n")
                        count += 1
            except OSError as error:
                if error.errno in DISK_FULL:  # which `atomic` would take for that of the first file
                    raise refusal(path, error) from None
                raise
        for partial in partials:
            sync(partial)
    return count


def read_json(path: str | os.PathLike[str]) -> Any:
    """The value in a JSON file. Raises UserError if the file is missing or broken, a pipe or a device."""
    try:
        with open(path, encoding="utf-8", opener=regular) as file:
            return json.load(file)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON ({error})") from None


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write `value` as indented JSON with a final newline. Raises UserError if a number in it is not finite.

    A byte that is not UTF-8, as in a command, is escaped.
    """
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise UserError(f"{path}: not written, because a number in it is not finite; check its inputs") from None
    write_lines(path, [text.encode(errors="backslashreplace").decode()])
