"""Files and folders that are complete or absent, and the checks of what a step reads and replaces."""

from __future__ import annotations

import errno
import glob
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from nmt.system.errors import UserError

_PIPES: set[tuple[int, int]] = set()  # those that have been read
DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # no blocks, no quota, or a limit on the size of files
MODEL, SUMMARY = "model.safetensors", "summary.json"  # a folder with both holds a model
PARTIAL, FORMER = ".partial", ".former"


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
        raise refusal(path, error) from None
    try:
        yield partial
        sync(partial)
        os.replace(partial, final)
    except OSError as error:
        if error.errno in DISK_FULL or str(error.filename) == str(partial):
            raise refusal(path, error) from None
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
        raise refusal(path, error) from None
    except UserError as error:  # which names a file in the folder that is removed
        raise UserError(str(error).replace(str(partial), str(path))) from None
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


def sync(path: Path) -> None:
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


def check_no_model(path: str | os.PathLike[str]) -> None:
    """Raise UserError where a file `path` would lie in the folder of a model, which training replaces as a whole."""
    folder = os.path.dirname(os.path.realpath(path))
    if all(os.path.isfile(os.path.join(folder, name)) for name in (MODEL, SUMMARY)):
        raise UserError(f"{path}: lies in the folder of a model, {folder}; name another output")


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
        attempt = nearest_folder(final) / partial_name(final).name
        try:
            attempt.write_bytes(b"?")
        except OSError as error:
            raise refusal(path, error) from None
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


def refusal(path: str | os.PathLike[str], error: OSError) -> UserError:
    """The error for an output that cannot be written."""
    if error.errno in DISK_FULL:
        return UserError(f"{path}: no space left; free some and repeat")
    return UserError(f"{path}: cannot be written ({error.strerror}); name another file")


def nearest_folder(path: str | os.PathLike[str]) -> Path:
    """The innermost existing folder on the path of a file; links to folders are followed."""
    folder = Path(os.path.realpath(os.path.dirname(path)))
    return next(one for one in (folder, *folder.parents) if os.path.lexists(one))


def check_room(folder: Path, size: int = 1 << 16) -> None:
    """Raise UserError if a file of `size` bytes cannot be written to `folder`."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(size))
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
        with suppress(FileNotFoundError):  # another process does the same
            if leftover.suffix == FORMER and not final.exists():
                os.replace(leftover, final)
            else:
                shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
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


@contextmanager
def open_once(path: str | os.PathLike[str]) -> Iterator[BufferedReader]:
    """Open a file to read its bytes. Raises UserError where it is a pipe that was opened before: it is empty now."""
    with open(path, "rb") as file:
        _check_unread(file, path)
        yield file


def standard_input() -> BinaryIO:
    """Standard input, to read its bytes. Raises UserError as `open_once` does."""
    _check_unread(sys.stdin.buffer, "standard input")
    return sys.stdin.buffer


def _check_unread(file: BinaryIO, name: str | os.PathLike[str]) -> None:
    """Raise UserError where `file` is a pipe that this function has been called with before."""
    state = os.fstat(file.fileno())
    if stat.S_ISFIFO(state.st_mode):
        if (state.st_dev, state.st_ino) in _PIPES:
            raise UserError(f"{name}: a pipe, which can be read only once; name a file")
        _PIPES.add((state.st_dev, state.st_ino))


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
