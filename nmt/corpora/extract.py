"""Extract the two sides of a corpus, or the only one, from their archives to line-aligned UTF-8 text.

Archives are tar files (plain or compressed with gzip or xz), gzip files, xz files and plain text; the content tells
which. The members named in the registry are streamed without unpacking anything else, and only regular files are read.
Of an SGML member the text of its segments is extracted, of the members FILE:1 and FILE:2 what is before and after the
`|||` on each line of FILE. Lines are split at newlines only; a carriage return before a newline and a byte order mark
are removed, a NUL becomes a space, and other control and separator characters stay in their line. A few lines that are
not UTF-8 are repaired; a side in Latin-1 or UTF-16 is refused, and so is one whose lines end in carriage returns. A few
lines of FILE that do not hold two sides become empty, and `clean` drops them. No line may be longer than `LONGEST`, and
no archive may expand to more than `EXPANSION` times its length and `SPARE`, so that a damaged or malicious archive does
not fill memory and disk.
"""

from __future__ import annotations

import argparse
import codecs
import gzip
import html
import io
import lzma
import os
import re
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from pathlib import Path

from nmt.system.files import UserError, atomic, warn
from nmt.system.options import Output
from nmt.system.progress import Progress

BLOCK = 1 << 20
LINES_PER_UPDATE = 10_000  # of the progress
GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"
OTHERS = {
    b"BZh[1-9]1AY&SY": "bzip2",
    rb"\x28\xb5\x2f\xfd": "Zstandard",
    rb"PK(\x03\x04|\x05\x06)": "zip",
    rb"7z\xbc\xaf\x27\x1c": "7z",
}  # how a compressed file begins that is not read
INVALID_ALLOWED = 0.01  # share of lines that may hold bytes that are not UTF-8, or not two sides
LONGEST = 1 << 24  # bytes of a line
EXPANSION, SPARE = 100, 1_000_000_000  # text expands to three or ten times its length; SPARE is in bytes
STRAY = 10  # lines that are not UTF-8; fewer do not show in which encoding the file is
# What reading a damaged archive raises. The second line is what tarfile raises at headers that it does not expect.
DAMAGED = (
    *(EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, tarfile.TarError),
    *(ValueError, OverflowError, RecursionError),
)
SEGMENT = re.compile(r"<seg\b[^>]*>(.*?)</seg\s*>", re.DOTALL | re.IGNORECASE)
SEGMENT_START = re.compile(r"<seg\b", re.IGNORECASE)
ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]+|#[xX][0-9a-fA-F]+);")
SGML_SPACE = re.compile(r"[ \t\r\n]+")
SEPARATOR = "|||"  # of the two sides on one line
ONE_SIDE = re.compile(r"(.*):([12])", re.DOTALL)  # a member, and the number of a side on each of its lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", required=True, help="the corpus, as messages call it")
    parser.add_argument("--archives", type=Path, nargs="+", required=True, help="of each side, source first")
    parser.add_argument(
        "--members", nargs="+", required=True, help="files inside, or FILE:1 and FILE:2; '' for the archive itself"
    )
    parser.add_argument("--expected-pairs", type=int, nargs="?", help="warn if there are more or fewer")
    parser.add_argument("--outputs", type=Output, nargs="+", required=True, help="a file for each side, source first")


def run(arguments: argparse.Namespace) -> None:
    if not len(arguments.archives) == len(arguments.members) == len(arguments.outputs) <= 2:
        raise UserError("--archives, --members, --outputs: give each of them once for each side, source first")
    extract(arguments.name, arguments.archives, arguments.members, arguments.outputs, arguments.expected_pairs)


def extract(
    name: str,
    archives: Sequence[Path],
    members: Sequence[str],
    outputs: Sequence[Path],
    expected_pairs: int | None = None,
) -> int:
    """Write both sides of the corpus `name`, source first, or its only side, to `outputs`; return the number of lines.

    Raises UserError and writes no side if an archive is missing, damaged or lacks the member, if a side is empty or has
    too many lines that are not UTF-8 or lack one of two sides, or a line that is too long, or if the sides have
    different numbers of lines.
    """
    places = [(archive, *_file_and_side(member)) for archive, member in zip(archives, members, strict=True)]
    counts: dict[tuple[Path, str, int], int] = {}
    with ExitStack() as stack:
        wanted: dict[tuple[Path, int], dict[str, Path]] = {(archive, side): {} for archive, _, side in places}
        for (archive, member, side), output in zip(places, outputs, strict=True):
            wanted[archive, side][member] = stack.enter_context(atomic(output))
        for (archive, side), files in wanted.items():
            lines = _extract_from(archive, side, files, name)
            counts |= {(archive, member, side): count for member, count in lines.items()}
        first, last = places[0], places[-1]
        if counts[first] != counts[last]:
            raise UserError(
                f"{name}: {counts[first]} lines in {_place(*first)} but {counts[last]} in {_place(*last)}; "
                "the sides must be aligned line by line"
            )
    if expected_pairs is not None and counts[first] != expected_pairs:
        noun = "pairs" if len(places) == 2 else "lines"
        warn(f"{name}: {counts[first]} {noun} where the registry expects {expected_pairs}")
    return counts[first]


def _file_and_side(member: str) -> tuple[str, int]:
    """The file of a member, and which side of its lines is meant; 0 where a line is one side."""
    member = member.removeprefix("./")
    match = ONE_SIDE.fullmatch(member)
    return (match[1], int(match[2])) if match else (member, 0)


def _extract_from(archive: Path, side: int, wanted: dict[str, Path], name: str) -> dict[str, int]:
    """Write a side of each wanted member of `archive` to its path, in one pass; return the number of lines of each."""
    with _readable(archive) as stream:
        if "" in wanted:
            if stream.peek(512)[257:262] == b"ustar":
                raise UserError(f"{archive}: a tar archive; name the members of {name} in the registry")
            return {"": _write(stream, side, wanted[""], archive.name, f"{name}: {_place(archive, '', side)}")}
        found: dict[str, int] = {}
        passed: list[str] = []
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            for entry in tar:
                member = entry.name.removeprefix("./")
                if member not in wanted or member in found:
                    passed.append(member)
                    continue
                content = tar.extractfile(entry) if entry.isfile() else None
                if not isinstance(content, io.BufferedReader):
                    raise UserError(f"{archive}: {member} is not a regular file; correct the member in the registry")
                place = f"{name}: {_place(archive, member, side)}"
                with content:
                    found[member] = _write(_decompressed(content, archive), side, wanted[member], member, place)
                if len(found) == len(wanted):
                    return found
    missing = next(member for member in wanted if member not in found)
    near = get_close_matches(missing, passed, 3, 0.0)
    hint = f"the nearest are {', '.join(near)}" if near else "it holds no other file"
    raise UserError(f"{archive}: no member {missing}; {hint}; correct {name} in the registry")


@contextmanager
def _readable(archive: Path) -> Iterator[io.BufferedReader]:
    """Yield the decompressed content of a file. Raises UserError if reading it shows that it is damaged."""
    try:
        with open(archive, "rb") as file:
            yield _decompressed(file, archive)
    except (FileNotFoundError, IsADirectoryError) as error:
        if error.filename != str(archive):
            raise
        raise UserError(f"{archive}: {error.strerror}; fetch it first") from None
    except tarfile.ReadError as error:
        raise UserError(f"{archive}: not a whole tar archive ({error}); remove it and fetch it again") from None
    except DAMAGED as error:
        raise UserError(f"{archive}: truncated or damaged ({error}); remove it and fetch it again") from None


class _Bounded(io.RawIOBase):
    """The content that `file` decompresses from `archive`. Raises UserError if there is far more of it than of text."""

    def __init__(self, file: gzip.GzipFile | lzma.LZMAFile, archive: Path) -> None:
        self._file, self._archive = file, archive
        self._left = EXPANSION * os.path.getsize(archive) + SPARE

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = self._file.readinto(buffer)
        self._left -= count
        if self._left < 0:
            raise UserError(
                f"{self._archive}: expands to more than {EXPANSION} times its length, as no text does; fetch another"
            )
        return count


def _decompressed(file: io.BufferedReader, archive: Path) -> io.BufferedReader:
    start = file.peek(len(XZ))
    if start.startswith(GZIP):
        return io.BufferedReader(_Bounded(gzip.GzipFile(fileobj=file), archive), BLOCK)
    if start.startswith(XZ):
        return io.BufferedReader(_Bounded(lzma.LZMAFile(file), archive), BLOCK)
    for pattern, kind in OTHERS.items():
        if re.match(pattern, start):
            raise UserError(f"{archive}: compressed with {kind}, which is not read; unpack it, or take gzip or xz")
    return file


def _write(stream: io.BufferedReader, side: int, output: Path, name: str, place: str) -> int:
    """Write the lines of one side, or its segments if `name` is that of an SGML file; return their number."""
    lines = _lines(stream, place)
    if side:
        lines = _side(lines, side, place)
    if re.search(r"\.sgml?(\.gz|\.xz)?$", name, re.IGNORECASE):
        lines = iter(_segments("\n".join(lines), place))
    count = 0
    with Progress(f"extract {name}", None, "lines") as progress:
        with open(output, "w", encoding="utf-8", newline="\n") as file:
            for line in lines:
                file.write(line)
                file.write("\n")
                count += 1
                if count % LINES_PER_UPDATE == 0:
                    progress.update(LINES_PER_UPDATE)
        progress.update(count % LINES_PER_UPDATE)
    if count == 0:
        raise UserError(f"{place}: empty; nothing to extract")
    return count


def _lines(stream: io.BufferedReader, place: str) -> Iterator[str]:
    """Yield the lines as text. Bytes that are not UTF-8 become U+FFFD if they are rare; else UserError is raised."""
    invalid = first = beyond_ascii = number = nul_at_end = 0
    raw = b""
    for number, raw in enumerate(iter(lambda: stream.readline(LONGEST + 1), b""), 1):
        if len(raw) > LONGEST:
            raise UserError(f"{place}: line {number} is longer than {LONGEST} bytes, no sentence; correct the file")
        if number == 1:
            if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise UserError(f"{place}: line 1 is UTF-16; convert the file to UTF-8")
            raw = raw.removeprefix(codecs.BOM_UTF8)
        raw = raw.removesuffix(b"\n").rstrip(b"\r")
        nul_at_end += raw[:1] == b"\0" or raw[-1:] == b"\0"
        raw = raw.replace(b"\0", b" ")
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError:
            invalid += 1
            first = first or number
            yield raw.decode("utf-8", errors="replace")
        else:
            beyond_ascii += len(line) != len(raw)
            yield line
    # In UTF-16 one of the bytes beside a newline's own is its other half, a NUL.
    if number and 2 * nul_at_end >= number:
        raise UserError(f"{place}: {nul_at_end} of {number} lines are UTF-16; convert the file to UTF-8")
    if number == 1 and b"\r" in raw:
        raise UserError(f"{place}: lines end in carriage returns; convert the file, so that they end in newlines")
    # Damage is rare among lines with accents; if most of those lines are not UTF-8, the file has another encoding.
    latin = invalid > beyond_ascii
    if invalid > INVALID_ALLOWED * number or (latin and invalid >= STRAY):
        encoding = "Latin-1, not UTF-8" if latin else "not UTF-8"
        raise UserError(
            f"{place}: line {first} is {encoding}, as are {invalid} of {number} lines; convert the file to UTF-8"
        )
    if invalid:
        warn(f"{place}: {invalid} of {number} lines, first {first}, are not UTF-8; the broken bytes became U+FFFD")


def _side(lines: Iterator[str], side: int, place: str) -> Iterator[str]:
    """Yield side 1 or 2 of each line. A line without two sides becomes empty; UserError if such lines are not rare."""
    broken = first = number = 0
    for number, line in enumerate(lines, 1):
        sides = line.split(SEPARATOR)
        if len(sides) == 2:
            yield sides[side - 1].strip(" ")
        else:
            broken += 1
            first = first or number
            yield ""
    said = f"{place}: {broken} of {number} lines, first {first}, do not hold two sides separated by {SEPARATOR}"
    if broken > INVALID_ALLOWED * number:
        raise UserError(f"{said}; correct the file, or the member in the registry")
    if broken:
        warn(f"{said}; they are left empty")


def _segments(text: str, place: str) -> list[str]:
    """The text of each <seg> in order, with entities resolved and white space collapsed."""
    segments = SEGMENT.findall(text)
    if len(segments) != len(SEGMENT_START.findall(text)):
        raise UserError(f"{place}: a <seg> is not closed; the file is truncated or damaged, fetch it again")
    resolved = (ENTITY.sub(lambda entity: html.unescape(entity[0]), segment) for segment in segments)
    return [SGML_SPACE.sub(" ", segment).strip(" ") for segment in resolved]


def _place(archive: Path, member: str, side: int) -> str:
    return ":".join(str(part) for part in (archive, member, side) if part)
