"""Files that are complete or absent: atomic writing, lines split at newlines only, and the error that users see."""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from nmt.system.compression import is_compressed

DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # no blocks, no quota, or a limit on the size of files
PARTIAL, FORMER = ".partial", ".former"


class UserError(Exception):
    """A mistake that the user can correct: one line that names the file or setting and says what to do."""

    def __str__(self) -> str:
        return printable(super().__str__())


def printable(text: str) -> str:
    """`text` on one line, with control characters escaped: it may quote a file or a server."""
    return "".join(
        one if one.isprintable() else " " if one.isspace() else one.encode("unicode_escape").decode() for one in text
    )


def warn(message: str) -> None:
    """Print a warning to standard error."""
    print(f"nmt: warning: {printable(message)}", file=sys.stderr, flush=True)


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a new name beside `path`; sync that file and rename it to `path` on success, remove it on failure.

    Readers therefore never see a half-written file, even if the writer is killed. A symbolic link is kept, and its
    target replaced. A device or a pipe, such as /dev/stdout, is written to directly. Raises UserError if `path` is a
    folder or cannot be written, or if the disk is full.
    """
    if _is_special(path):
        yield Path(path)
        return
    final = _final(path)
    partial = partial_name(final)
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refusal(path, error) from None
    try:
        yield partial
        _sync(partial)
        os.replace(partial, final)
    except OSError as error:
        if error.errno in DISK_FULL or str(error.filename) == str(partial):
            raise _refusal(path, error) from None
        raise
    finally:
        with suppress(OSError):
            partial.unlink()


@contextmanager
def atomic_folder(path: str | os.PathLike[str], what: str, is_own: Callable[[Path], bool]) -> Iterator[Path]:
    """As `atomic` for a folder: yield a new one that replaces `path` as a whole on success.

    Raises UserError as `check_folder` does, and if the disk is full.
    """
    check_folder(path, what, is_own)
    final = Path(os.path.realpath(path))
    final.parent.mkdir(parents=True, exist_ok=True)
    partial = partial_name(final)
    former = partial.with_suffix(FORMER)
    partial.mkdir()
    try:
        yield partial
        if final.exists():
            shutil.copymode(final, partial)
            os.replace(final, former)
        os.replace(partial, final)
        sync_folder(final.parent)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise _refusal(path, error) from None
    finally:
        if former.exists() and not final.exists():
            os.replace(former, final)
        for leftover in (partial, former):
            shutil.rmtree(leftover, ignore_errors=True)


def check_folder(path: str | os.PathLike[str], what: str, is_own: Callable[[Path], bool]) -> None:
    """Raise UserError if the folder `path` cannot be replaced: it holds files of others, is in use, or is a file."""
    final = Path(os.path.realpath(path))
    if final.is_symlink():
        raise UserError(f"{path}: a link that leads to itself; name another folder")
    if final.exists() and not final.is_dir():
        raise UserError(f"{path}: a file; name a folder")
    if Path.cwd().is_relative_to(final) or os.path.ismount(final):
        raise UserError(f"{path}: cannot be replaced as a whole; name a folder in it")
    check_replaceable(final, what, is_own)
    check_outputs([final.with_name(f".{final.name}.new")])


def of_names(*names: str) -> Callable[[Path], bool]:
    """A test for `check_replaceable`: files of these names are ours, and so are unfinished ones."""
    return lambda path: path.name in names or path.match(f".*{PARTIAL}")


def recorded(record: str, names: Iterable[str]) -> Callable[[Path], bool]:
    """A test for `check_folder`: files of these names are ours if the JSON file `record` beside them holds digests."""
    own = {record, *names}

    def is_own(path: Path) -> bool:
        with suppress(UserError, OSError):
            found = read_json(path.with_name(record))
            return path.name in own and isinstance(found, dict) and "digests" in found
        return False

    return is_own


def _sync(path: Path) -> None:
    """Write the content of a file to disk; of a pipe or a device there is none."""
    if path.is_file():
        with open(path, "rb") as written:
            os.fsync(written.fileno())


def sync_folder(folder: Path) -> None:
    """Write the names of the files in `folder` to disk, as fsync does with their contents, if its file system can."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(number)


def check_apart(outputs: Iterable[str | os.PathLike[str]], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raise UserError where an output is an input, or lies in a folder that is one; links are followed."""
    read = {Path(os.path.realpath(one)): one for one in inputs}
    for path in outputs:
        final = Path(os.path.realpath(path))
        if _is_special(path):
            continue
        if final in read:
            raise UserError(f"{path}: is read too; name another output")
        for folder in read.keys() & {one for one in final.parents if not one.is_file()}:
            raise UserError(f"{path}: lies in {read[folder]}, which is read; name another output")


def check_outside(folder: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raise UserError where an input, or a link that leads to one, lies in `folder`, which is replaced as a whole."""
    replaced = {Path(os.path.realpath(folder)), Path(os.path.abspath(folder))}
    for path in inputs:
        if replaced & {*Path(os.path.realpath(path)).parents, *Path(os.path.abspath(path)).parents}:
            raise UserError(f"{path}: lies in {folder}, which is replaced as a whole; name another output")


def check_outputs(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Raise UserError where a file cannot be written or two of `paths` lead to the same one; nothing is left behind."""
    finals = set()
    for path in paths:
        if _is_special(path):
            continue
        final = _final(path)
        folder = next(one for one in final.parents if os.path.lexists(one))
        attempt = folder / partial_name(final).name
        try:
            attempt.write_bytes(b"?")
        except OSError as error:
            raise _refusal(path, error) from None
        finally:
            with suppress(OSError):
                attempt.unlink()
        if final in finals:
            raise UserError(f"{path}: named for two outputs; give each its own")
        finals.add(final)


def is_named_pipe(path: str | os.PathLike[str]) -> bool:
    """Whether `path` is a pipe in a folder, unlike those to which /dev/stdin and a shell's `<(...)` lead."""
    with suppress(OSError, ValueError):
        return stat.S_ISFIFO(os.stat(os.path.realpath(path)).st_mode)
    return False


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Whether `path` is a device or a pipe."""
    return os.path.exists(path) and not os.path.isdir(path) and not os.path.isfile(path)


def _final(path: str | os.PathLike[str]) -> Path:
    """The file to which `path` leads. Raises UserError if it is a folder."""
    if os.path.isdir(path):
        raise UserError(f"{path}: a folder; name a file")
    return Path(os.path.realpath(path))


def _refusal(path: str | os.PathLike[str], error: OSError) -> UserError:
    """The error for an output that cannot be written."""
    if error.errno in DISK_FULL:
        return UserError(f"{path}: no space left; free some and repeat")
    return UserError(f"{path}: cannot be written ({error.strerror}); name another file")


def check_room(folder: Path) -> None:
    """Raise UserError if a small file cannot be written to `folder`."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1 << 16))
    except OSError as error:
        raise UserError(f"{folder}: cannot be written ({error.strerror}); make it writable, with room") from None


def check_replaceable(folder: Path, what: str, is_own: Callable[[Path], bool]) -> None:
    """Raise UserError if `folder` holds anything that a step which replaces `what` there must not remove."""
    for path in sorted(folder.iterdir()) if folder.exists() else []:
        if not is_own(path):
            raise UserError(
                f"{folder}: exists and is not {what}, because it holds {path.name}; move that, or name another folder"
            )


def partial_name(final: Path) -> Path:
    """This process's name for the unfinished `final`. Leftovers of killed processes on this machine are removed.

    One with this process's number is a leftover, too: in containers, every step may have the same number. A folder that
    was moved aside and was not replaced is put back.
    """
    for leftover in final.parent.glob(f".{glob.escape(final.name)}.*"):
        process = leftover.stem.removeprefix(f".{final.name}.")
        if leftover.suffix not in (PARTIAL, FORMER) or not process.isdecimal() or _lives(int(process)):
            continue
        if leftover.suffix == FORMER and not final.exists():
            os.replace(leftover, final)
        else:
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink(missing_ok=True)
    return final.with_name(f".{final.name}.{os.getpid()}{PARTIAL}")


def _lives(process: int) -> bool:
    """Whether another process with this number is alive, whoever owns it."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def check_regular(path: str | os.PathLike[str]) -> None:
    """Raise UserError unless `path` is a file: a pipe is waited for, and a device may never end."""
    if not os.path.isfile(path):
        special = "a folder" if os.path.isdir(path) else "a pipe or a device"
        raise UserError(f"{path}: {special}; name a file" if os.path.exists(path) else f"{path}: no such file")


def regular(path: str, flags: int) -> int:
    """An opener, for `open`, of a file that lies in a folder: it never waits for a pipe or reads a device.

    Raises UserError where the path leads to one.
    """
    try:
        number = os.open(path, flags | os.O_NONBLOCK, 0o666)
    except OSError as error:
        if error.errno != errno.ENXIO:  # of a socket, and of a pipe to write to that nobody reads
            raise
    else:
        kind = os.fstat(number).st_mode
        if stat.S_ISREG(kind) or stat.S_ISDIR(kind):  # a folder is refused by `open`
            return number
        os.close(number)
    raise UserError(f"{path}: a pipe or a device in place of a file; remove it")


def read_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the lines of a UTF-8 file as `decode_lines` does. Raises UserError if there is no such file."""
    try:
        with open(path, "rb") as file:
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
                    raise _refusal(path, error) from None
                raise
        for partial in partials:
            _sync(partial)
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
            raise UserError(f"{path}: damaged or replaced, it does not agree with {record.name}; {remedy}")
