"""Files that are whole or absent: atomic writing, lines split on newline alone, and the one error a user sees."""

from __future__ import annotations

import errno
import glob
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # no block, no quota, or no room under a limit on files is left


class UserError(Exception):
    """A mistake that the user can mend: one line that names the file or setting and says what to do."""


def warn(message: str) -> None:
    """Say on standard error what was repaired or looks wrong, without stopping."""
    print(f"nmt: warning: {message}", file=sys.stderr, flush=True)


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a new name beside `path`; on success sync and rename it to `path`, on failure remove it.

    A reader therefore never sees a half-written file, whatever kills the writer. A link stays one: the file that it
    names is replaced. A device or a pipe, such as /dev/stdout, is written to as it is. Raises UserError for a folder,
    and where the disk is full.
    """
    named = Path(path)
    if named.is_dir():
        raise UserError(f"{path}: a folder; name a file")
    if named.exists() and not named.is_file():
        yield named
        return
    final = named.resolve()
    final.parent.mkdir(parents=True, exist_ok=True)
    partial = partial_name(final)
    try:
        yield partial
        with open(partial, "rb") as written:
            os.fsync(written.fileno())
        os.replace(partial, final)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise UserError(f"{path}: no space left; nothing was changed, free some and repeat") from None
    finally:
        partial.unlink(missing_ok=True)


def partial_name(final: Path) -> Path:
    """This process's name for an unfinished `final`. What killed processes of this machine have left is removed."""
    for leftover in final.parent.glob(f".{glob.escape(final.name)}.*.partial"):
        process = leftover.name.removeprefix(f".{final.name}.").removesuffix(".partial")
        if process.isdecimal() and not _lives(int(process)):
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink(missing_ok=True)
    return final.with_name(f".{final.name}.{os.getpid()}.partial")


def _lives(process: int) -> bool:
    """Whether there is a process of this number, one that is another user's included."""
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def read_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the lines of a UTF-8 file as `decode_lines` does; UserError where there is no such file."""
    try:
        with open(path, "rb") as file:
            yield from decode_lines(file, path)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise UserError(f"{path}: a folder; name a file") from None


def decode_lines(file: Iterable[bytes], name: str | os.PathLike[str], first: int = 1) -> Iterator[str]:
    """Yield UTF-8 lines, split on newline alone; U+2028, U+0085 and form feeds stay inside a line.

    Raises UserError, with `name` and the line's number, counted from `first`, where the bytes are not UTF-8.
    """
    for number, line in enumerate(file, first):
        try:
            yield line.decode("utf-8").removesuffix("\n")
        except UnicodeDecodeError as error:
            raise UserError(f"{name}: line {number} is not UTF-8 ({error.reason}); convert the file") from None


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> int:
    """Write `lines`, each ended by one newline, to `path` whole or not at all; return how many there were."""
    count = 0
    with atomic(path) as partial, open(partial, "w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(line)
            file.write("\n")
            count += 1
    return count


def read_json(path: str | os.PathLike[str]) -> Any:
    """The value in a JSON file; UserError where it is missing or broken."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except ValueError as error:
        raise UserError(f"{path}: not JSON ({error})") from None


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write `value` as indented JSON with a final newline."""
    write_lines(path, [json.dumps(value, indent=2, ensure_ascii=False)])
