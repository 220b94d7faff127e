"""Files that are complete or absent: atomic writing, lines split at newlines only, and the error that users see."""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # no blocks, no quota, or a limit on the size of files


class UserError(Exception):
    """A mistake that the user can correct: one line that names the file or setting and says what to do."""


def warn(message: str) -> None:
    """Print a warning to standard error."""
    print(f"nmt: warning: {message}", file=sys.stderr, flush=True)


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a new name beside `path`; sync that file and rename it to `path` on success, remove it on failure.

    Readers therefore never see a half-written file, even if the writer is killed. A symbolic link is kept, and its
    target replaced. A device or a pipe, such as /dev/stdout, is written to directly. Raises UserError if `path` is a
    folder or the disk is full.
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
    """This process's name for the unfinished `final`. Leftovers of killed processes on this machine are removed."""
    for leftover in final.parent.glob(f".{glob.escape(final.name)}.*.partial"):
        process = leftover.name.removeprefix(f".{final.name}.").removesuffix(".partial")
        if process.isdecimal() and not _lives(int(process)):
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink(missing_ok=True)
    return final.with_name(f".{final.name}.{os.getpid()}.partial")


def _lives(process: int) -> bool:
    """Whether a process with this number is alive, whoever owns it."""
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def read_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the lines of a UTF-8 file as `decode_lines` does. Raises UserError if there is no such file."""
    try:
        with open(path, "rb") as file:
            yield from decode_lines(file, path)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise UserError(f"{path}: a folder; name a file") from None


def decode_lines(file: Iterable[bytes], name: str | os.PathLike[str], first: int = 1) -> Iterator[str]:
    """Decode lines of UTF-8, split at newlines only; U+2028, U+0085 and form feeds stay in their line.

    Raises UserError, with `name` and the number of the line (counted from `first`), if a line is not UTF-8.
    """
    for number, line in enumerate(file, first):
        try:
            yield line.decode("utf-8").removesuffix("\n")
        except UnicodeDecodeError as error:
            raise UserError(f"{name}: line {number} is not UTF-8 ({error.reason}); convert the file") from None


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> int:
    """Write `lines`, each with a newline, to `path` atomically; return their number."""
    count = 0
    with atomic(path) as partial, open(partial, "w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(line)
            file.write("\n")
            count += 1
    return count


def read_json(path: str | os.PathLike[str]) -> Any:
    """The value in a JSON file. Raises UserError if the file is missing or broken."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON ({error})") from None


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write `value` as indented JSON with a final newline. Raises UserError if a number in it is not finite."""
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise UserError(f"{path}: not written, for a number in it is not finite; check what it is made from") from None
    write_lines(path, [text])


def sha256(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify(record: Path, digests: Mapping[str, str], remedy: str) -> None:
    """Compare the files beside `record` with their SHA-256s, which `record` holds.

    Raises UserError, which ends with what to do, if one is missing or differs.
    """
    for name, digest in digests.items():
        path = record.with_name(name)
        if not path.is_file():
            raise UserError(f"{path}: no such file; {remedy}")
        if sha256(path) != digest:
            raise UserError(f"{path}: damaged or exchanged, it does not agree with {record.name}; {remedy}")
