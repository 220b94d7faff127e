"""Files that hold text: plain, compressed, or members of a tar or zip archive. Their content determines their kind.

Archives are tar files (plain or compressed with gzip or xz), zip files, gzip files, xz files and plain text; a member
may be compressed once more. Members are streamed without unpacking anything else, and only regular files are read. A
damaged archive is refused, wherever the damage is. So is one that expands to more than `EXPANSION` times its length and
`SPARE`, because it could fill memory and disk.
"""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import IO, Any
from unicodedata import normalize

from nmt.system.compression import GZIP, XZ, ZIP, other_kind
from nmt.system.errors import UserError
from nmt.system.files import check_regular

BLOCK = 1 << 20
EXPANSION, SPARE = 100, 1_000_000_000  # text expands to three or ten times its length; SPARE is in bytes
HEADER = 512  # bytes of a tar header
SHOWN = 5  # member names that a message lists
WHOLE = "replace it by a whole copy; what was fetched is fetched again once it is removed"
# What reading a damaged archive raises. The last line is of tarfile and zipfile, at headers that they do not expect.
DAMAGED = (
    *(EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, tarfile.TarError, zipfile.BadZipFile),
    *(ValueError, OverflowError, RecursionError, NotImplementedError),
)
Members = Iterator[tuple[str, io.BufferedReader]]


def contents(archive: Path, wanted: Collection[str]) -> Members:
    """Yield the wanted members of `archive` with what they hold, in one pass; "" is the file itself.

    A member that an archive holds several times may come several times: the last one counts, as when it is unpacked.
    Raises UserError if the archive or a member is missing, damaged or of a kind that is not read.
    """
    check_regular(archive)
    with _telling(archive), open(archive, "rb") as file:
        if file.peek(HEADER).startswith(ZIP):
            yield from _from_zip(file, archive, wanted)
            return
        stream = _decompressed(file, archive)
        if "" not in wanted:
            yield from _from_tar(stream, archive, wanted)
        elif is_tar(stream.peek(HEADER)):
            raise UserError(f"{archive}: a tar archive; name the file in it, in the registry or as {archive}:FILE")
        else:
            yield "", stream


def member_name(path: str) -> str:
    """The path of a member in one form: d/a.en, also where an archive or a person writes ./d/a.en or d//a.en."""
    return str(PurePosixPath(path)) if path else ""


def is_tar(start: bytes) -> bool:
    """Whether a file with this `start` is a tar archive, even of the oldest kind, which has no magic number."""
    if start[257:262] == b"ustar":
        return True
    try:
        tarfile.TarInfo.frombuf(start[:HEADER], "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError):
        return False
    return True


class _Entry(tarfile.TarInfo):
    """A member of a tar archive. tarfile itself treats a malformed header as the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Entry:
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.TarError as error:
            if buf.count(b"\0") == len(buf):  # the end
                raise
            raise ValueError(f"a header is damaged: {error}") from None


def _from_tar(stream: io.BufferedReader, archive: Path, wanted: Collection[str]) -> Members:
    found: set[str] = set()
    passed: list[str] = []
    if not is_tar(stream.peek(HEADER)):
        raise UserError(
            f"{archive}: not a whole tar archive, which members are read from; name no member if it is the text "
            f"itself, or {WHOLE}"
        )
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Entry) as tar:
        for entry in tar:
            member = member_name(entry.name)
            if member not in wanted:
                passed.append(member)
                continue
            content = tar.extractfile(entry) if entry.isfile() else None
            if not isinstance(content, io.BufferedReader):
                raise _not_regular(archive, member, entry.linkname if entry.islnk() else "")
            yield member, _member(content, archive, member)
            found.add(member)
        while rest := tar.fileobj.read(BLOCK):  # also because the checksum of a compressed file is at its very end
            if rest.strip(b"\0"):  # a header that is zeros looks like the end
                raise UserError(f"{archive}: holds other data after the end of the tar archive; {WHOLE}")
    _check_found(archive, wanted, found, passed)


def _from_zip(file: io.BufferedReader, archive: Path, wanted: Collection[str]) -> Members:
    with zipfile.ZipFile(file) as packed:
        entries = {member_name(entry.filename): entry for entry in packed.infolist()}
        if "" in wanted:
            files = [name for name, entry in entries.items() if not entry.is_dir()]
            largest = sorted(files, key=lambda name: -entries[name].file_size)[:SHOWN]
            raise UserError(
                f"{archive}: a zip archive; name the file in it, in the registry or as {archive}:FILE; "
                f"its largest are {', '.join(largest) or 'none'}"
            )
        _check_found(archive, wanted, entries.keys(), entries.keys())
        for member in wanted:
            entry = entries[member]
            if entry.is_dir() or stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
                raise _not_regular(archive, member)
            if entry.flag_bits & 1:
                raise UserError(f"{archive}: {member} is encrypted; decrypt it")
            try:
                content = packed.open(entry)
            except NotImplementedError:
                raise UserError(f"{archive}: {member} is packed by a method that is not read; pack it again") from None
            yield member, _member(content, archive, member)


def _member(content: IO[bytes], archive: Path, member: str) -> io.BufferedReader:
    """What a member holds, decompressed. Raises UserError if it is an archive itself."""
    stream = _decompressed(io.BufferedReader(_Content(content, archive), BLOCK), archive)
    if is_tar(stream.peek(HEADER)):
        raise UserError(f"{archive}: {member} is a tar archive inside another archive, which is not read; unpack it")
    return stream


def _check_found(archive: Path, wanted: Iterable[str], found: Collection[str], known: Iterable[str]) -> None:
    """Raise UserError, with the most similar names, if a wanted member was not found."""
    for member in wanted:
        if member not in found:
            near = [told_from(member, one) for one in get_close_matches(member, list(known), 3, 0.0)]
            hint = f"the nearest are {', '.join(near)}" if near else "it holds no other file"
            raise UserError(f"{archive}: no member {member}; {hint}; correct the member")


def told_from(name: str, near: str) -> str:
    """The name `near`, with its code points if it looks like `name`: a Mac may keep accents apart from letters."""
    alike = near != name and normalize("NFC", near) == normalize("NFC", name)
    return f"{near} ({near!a}, in another form of Unicode)" if alike else near


def _not_regular(archive: Path, member: str, linked: str = "") -> UserError:
    """The error for a member that is no file; `linked` is the member to which it is a hard link, if it is one."""
    advice = f", but a hard link to {linked}; name that" if linked else "; correct the member"
    return UserError(f"{archive}: {member} is not a regular file{advice}")


@contextmanager
def _telling(archive: Path) -> Iterator[None]:
    """Raise UserError where reading in this context shows that the archive is damaged."""
    try:
        yield
    except gzip.BadGzipFile as error:
        if not str(error).startswith("Not a gzipped file"):
            raise UserError(f"{archive}: truncated or damaged ({error}); {WHOLE}") from None
        raise UserError(f"{archive}: holds other data after the end of what gzip packed; {WHOLE}") from None
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # of bz2, and of zipfile, which seeks a place before the beginning
            raise
        raise UserError(f"{archive}: truncated or damaged; {WHOLE}") from None
    except DAMAGED as error:
        kind = "not a whole tar archive" if isinstance(error, tarfile.ReadError) else "truncated or damaged"
        raise UserError(f"{archive}: {kind} ({error}); {WHOLE}") from None


class _Content(io.RawIOBase):
    """What `file`, a part of `archive`, holds. Raises UserError if it is damaged or expands more than text does."""

    def __init__(self, file: Any, archive: Path) -> None:
        self._file, self._archive = file, archive
        self._left = EXPANSION * os.path.getsize(archive) + SPARE

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = 0
        with _telling(self._archive):
            while count < len(buffer) and (more := self._file.readinto(buffer[count:])):
                count += more
        self._left -= count
        if self._left < 0:
            raise UserError(
                f"{self._archive}: expands to more than {EXPANSION} times its length, as no text does; get another"
            )
        return count


class _Xz(io.RawIOBase):
    """All streams of an xz file. LZMAFile treats padding or damage after a stream as the end."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._stream = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while True:
            if self._stream.eof and not self._next_stream():
                return 0
            if self._stream.needs_input and not self._waiting:
                self._waiting = self._file.read(BLOCK)
                if not self._waiting:
                    raise EOFError("it ends before the end of its last stream")
            found = self._stream.decompress(self._waiting, len(buffer))
            self._waiting = b""
            if found:
                buffer[: len(found)] = found
                return len(found)

    def _next_stream(self) -> bool:
        """Begin the stream that follows; False at the end of the file. Between streams there may be padding."""
        rest, padding = self._stream.unused_data, 0
        while rest or (rest := self._file.read(BLOCK)):
            stripped = rest.lstrip(b"\0")
            padding += len(rest) - len(stripped)
            rest = stripped
            if rest:
                break
        if padding % 4:
            raise lzma.LZMAError("the padding after a stream is no multiple of four bytes")
        if rest:
            self._stream, self._waiting = lzma.LZMADecompressor(lzma.FORMAT_XZ), rest
        return bool(rest)


def _decompressed(file: io.BufferedReader, archive: Path) -> io.BufferedReader:
    """What `file` holds, decompressed if it is compressed. Raises UserError if that is compressed again."""
    start = file.peek(HEADER)
    if start.startswith(GZIP):
        content = _Content(gzip.GzipFile(fileobj=file), archive)
    elif start.startswith(XZ):
        content = _Content(_Xz(file), archive)
    elif kind := _other_kind(start):
        raise UserError(f"{archive}: compressed with {kind}, which is not read; unpack it, or take gzip, xz or zip")
    else:
        return file
    stream: io.BufferedReader = io.BufferedReader(content, BLOCK)
    inside = stream.peek(HEADER)
    if inside.startswith((GZIP, XZ)) or _other_kind(inside):
        raise UserError(f"{archive}: compressed twice; unpack it once")
    return stream


def _other_kind(start: bytes) -> str:
    """The kind of a compressed file with these first bytes that is not read here; "" for all others."""
    if start.startswith(ZIP):
        return "zip inside another archive"
    return other_kind(start)
