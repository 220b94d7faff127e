"""Extract the two sides of a corpus, or the only one, from their archives to line-aligned UTF-8 text.

The members named in the registry are read from their archives (see `nmt.corpora.archives`). From an SGML member, the
text of its segments is extracted; if both sides are SGML, segments of the same document and number are pairs. The
members FILE:1 and FILE:2 are the first and the second column of FILE; columns are separated by tabs or, if the lines
hold `|||`, by that. Lines are split at newlines only and normalized (`nmt.corpora.normalization`); a carriage return
before a newline is removed, a NUL becomes a space, and other control and separator characters stay in their line. A few
lines that are not UTF-8 are repaired; a side in another encoding is refused, and so are XML, HTML and lines that end in
carriage returns. A few lines of FILE that do not hold all columns become empty, and `clean` drops them. No line may
be longer than `LONGEST`.
"""

from __future__ import annotations

import argparse
import codecs
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from nmt.corpora.archives import contents, member_name
from nmt.corpora.normalization import add_normalize_argument, normalized
from nmt.corpora.sgml import NAME as SGML
from nmt.corpora.sgml import Segment, in_order_of, read_segments
from nmt.settings.sections import NFC
from nmt.system.checksums import sha256
from nmt.system.errors import UserError, warn
from nmt.system.files import atomic
from nmt.system.options import Output
from nmt.system.progress import Progress

SILENT = 5.0  # seconds before progress is shown
INVALID_ALLOWED = 0.01  # share of lines that may hold bytes that are not UTF-8, or not all columns
LONGEST = 1 << 24  # bytes of a line
STRAY = 10  # lines that are not UTF-8; fewer do not reveal the encoding of the file
CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1b\x7f]")  # characters that no text holds
COLUMN = re.compile(r"(.*):([1-9])", re.DOTALL)  # a file, and the number of a column of it
TABLE = re.compile(r"\.tsv(\.gz|\.xz)?$", re.IGNORECASE)  # the name of a file with tabs between its columns
BARS = "|||"
MARKUP = re.compile(
    r"\s*(<!--|<(?:\?xml|!doctype|html|tmx|xliff|(srcset|refset|tstset|mteval|doc|seg))\b)", re.IGNORECASE
)
POINTER = "version https://git-lfs.github.com/spec/"  # what a file is where Git LFS has not fetched it


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", required=True, help="the corpus, as messages call it")
    parser.add_argument("--archives", type=Path, nargs="+", required=True, help="archive of each side, source first")
    parser.add_argument(
        "--members", nargs="+", required=True, help="files inside, or FILE:1 and FILE:2; '' for the archive itself"
    )
    parser.add_argument(
        "--digests", nargs="*", default=[], help="SHA-256 of each archive, '' for any (default: they are not compared)"
    )
    parser.add_argument("--expected-pairs", type=int, nargs="?", help="warn if there are more or fewer")
    add_normalize_argument(parser)
    parser.add_argument("--outputs", type=Output, nargs="+", required=True, help="a file for each side, source first")


def run(arguments: argparse.Namespace) -> None:
    if not len(arguments.archives) == len(arguments.members) == len(arguments.outputs) <= 2:
        raise UserError("--archives, --members, --outputs: give each of them once for each side, source first")
    if len(arguments.digests) not in (0, len(arguments.archives)):
        raise UserError("--digests: give one for each of the --archives")
    extract(
        arguments.name,
        arguments.archives,
        arguments.members,
        arguments.outputs,
        arguments.expected_pairs,
        arguments.normalize,
        arguments.digests,
    )


def extract(
    name: str,
    archives: Sequence[Path],
    members: Sequence[str],
    outputs: Sequence[Path],
    expected_pairs: int | None = None,
    normalize: str = NFC,
    digests: Sequence[str] = (),
) -> int:
    """Write both sides of the corpus `name`, source first, or its only side, to `outputs`; return the number of lines.

    Raises UserError, and writes no side, if one cannot be read, if they have different numbers of lines, or if the
    SHA-256 of an archive is not the one in `digests` ("" for any).
    """
    places = [(archive, *_file_and_column(member)) for archive, member in zip(archives, members, strict=True)]
    found: dict[tuple[Path, str, int], tuple[int, list[Segment]]] = {}  # the number of lines; of SGML, the segments
    with ExitStack() as stack:
        wanted: dict[tuple[Path, int], dict[str, Path]] = {(archive, column): {} for archive, _, column in places}
        for (archive, member, column), output in zip(places, outputs, strict=True):
            wanted[archive, column][member] = stack.enter_context(atomic(output))
        for (archive, column), files in wanted.items():
            for member, stream in contents(archive, files):
                place = f"{name}: {_place(archive, member, column)}"
                found[archive, member, column] = _write(
                    stream, column, files[member], member or archive.name, place, normalize
                )
        texts = {(os.path.realpath(archive), member) for archive, member, _ in places}
        columns = {column for _, _, column in places}
        if len(texts) < len(places) and (0 in columns or len(columns) < len(places)):
            raise UserError(f"{name}: {_place(*places[0])}: source and target are the same text; name the other side's")
        first, last = places[0], places[-1]
        (count, sources), (target_count, targets) = found[first], found[last]
        if count != target_count:
            raise UserError(
                f"{name}: {count} lines in {_place(*first)} but {target_count} in {_place(*last)}; "
                "the sides must be aligned line by line"
            )
        if sources and targets and (ordered := in_order_of(sources, targets, name)) != targets:
            archive, member, column = last
            _write_lines((segment.text for segment in ordered), wanted[archive, column][member], member)
        for archive, digest in zip(archives, digests or [""] * len(archives), strict=True):
            if digest and sha256(archive) != digest:
                raise UserError(f"{archive}: changed since the run began; start the run again")
    if expected_pairs is not None and count != expected_pairs:
        noun = "pairs" if len(places) == 2 else "lines"
        warn(f"{name}: {count} {noun} where the registry expects {expected_pairs}")
    return count


def count_columns(archive: Path, member: str) -> int:
    """The number of columns of a table, by its first line that has several; 1 if there is none. Raises UserError."""
    found = contents(archive, [member_name(member)])
    lines = (line for _, stream in found for line in _lines(stream, _place(archive, member, 0)))
    # With a carriage return, a line may be several; `_lines` refuses a table that has no other ends of lines.
    return next((line.count("\t") + 1 for line in lines if "\t" in line and "\r" not in line), 1)


def _file_and_column(member: str) -> tuple[str, int]:
    """The file of a member, and which column of it is meant; 0 where a line is one side."""
    member = member_name(member)
    match = COLUMN.fullmatch(member)
    return (match[1], int(match[2])) if match else (member, 0)


def _write(
    stream: io.BufferedReader, column: int, output: Path, name: str, place: str, normalize: str
) -> tuple[int, list[Segment]]:
    """Write one side; return the number of lines and, if `name` is that of an SGML file, its segments."""
    lines = _lines(stream, place)
    if column:
        lines = _column(lines, column, place, "\t" if TABLE.search(name) else None)
    lines = _normalized(lines, place, normalize)
    is_sgml = SGML.search(name) is not None
    segments = read_segments("\n".join(lines), place) if is_sgml else []
    count = _write_lines((segment.text for segment in segments) if is_sgml else _prose(lines, place), output, name)
    if count == 0:
        raise UserError(f"{place}: empty; nothing to extract")
    return count, segments


def _write_lines(lines: Iterable[str], output: Path, name: str) -> int:
    count = 0
    with (
        Progress(f"extract {name}", None, "lines", silent=SILENT) as progress,
        open(output, "w", encoding="utf-8", newline="\n") as file,
    ):
        for line in progress.over(lines):
            file.write(f"{line}\n")
            count += 1
    return count


def _lines(stream: io.BufferedReader, place: str) -> Iterator[str]:
    """Yield the lines as text. Bytes that are not UTF-8 become U+FFFD if they are rare; else UserError is raised."""
    invalid = first = beyond_ascii = number = nul_at_end = wide = binary = 0
    raw = b""
    for number, raw in enumerate(iter(lambda: stream.readline(LONGEST + 1), b""), 1):
        if len(raw) > LONGEST:
            raise UserError(f"{place}: line {number} is longer than {LONGEST} bytes, no sentence; correct the file")
        if number == 1:
            if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)):
                width = 32 if raw.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)) else 16
                raise UserError(f"{place}: line 1 is UTF-{width}; convert the file to UTF-8")
            raw = raw.removeprefix(codecs.BOM_UTF8)
        raw = raw.removesuffix(b"\n").rstrip(b"\r")
        if raw[:1] == b"\0" or raw[-1:] == b"\0":
            inside = raw.strip(b"\0")
            nul_at_end += 1
            wide += len(inside) == 1 or CONTROLS.search(inside) is not None or not _is_utf8(inside)
        raw = raw.replace(b"\0", b" ")
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError:
            invalid += 1
            binary += CONTROLS.search(raw) is not None
            first = first or number
            yield raw.decode("utf-8", errors="replace")
        else:
            beyond_ascii += len(line) != len(raw)
            yield line
    # In UTF-16 one of the bytes beside a newline's own is its other half, a NUL.
    if number and 2 * nul_at_end >= number:
        if 2 * wide >= nul_at_end:
            raise UserError(f"{place}: {nul_at_end} of {number} lines are UTF-16; convert the file to UTF-8")
        raise UserError(
            f"{place}: {nul_at_end} of {number} lines begin or end in NULs; remove them, or the file is damaged"
        )
    if number == 1 and b"\r" in raw:
        raise UserError(f"{place}: lines end in carriage returns; convert the file, so that they end in newlines")
    # Damage is rare among lines with accents; if most of those lines are not UTF-8, the file has another encoding.
    if invalid > INVALID_ALLOWED * number or (invalid >= STRAY and invalid > beyond_ascii):
        if 2 * binary > invalid:
            raise UserError(
                f"{place}: line {first} is no text, as are {binary} of {number} lines; unpack the file, or name another"
            )
        raise UserError(
            f"{place}: line {first} is not UTF-8, as are {invalid} of {number} lines; find out in which encoding the "
            "file is, and convert it"
        )
    if invalid:
        warn(f"{place}: {invalid} of {number} lines, first {first}, are not UTF-8; the broken bytes became U+FFFD")


def _normalized(lines: Iterator[str], place: str, normalize: str) -> Iterator[str]:
    """Yield the normalized lines; warn of those that changed."""
    changed = first = 0
    for number, line in enumerate(lines, 1):
        clean = normalized(line, normalize)
        if clean != line:
            changed += 1
            first = first or number
        yield clean
    if changed:
        warn(
            f"{place}: {changed} lines, first {first}, were normalized: they were not in Unicode's form NFC, held byte "
            "order marks, or nothing that can be seen"
        )


def _prose(lines: Iterator[str], place: str) -> Iterator[str]:
    """Yield the lines; UserError if the first that is not blank is markup or a pointer of Git LFS."""
    for number, line in enumerate(lines, 1):
        if markup := MARKUP.match(line):
            remedy = "name the file .sgm" if markup[2] else "convert it to one sentence a line"
            raise UserError(f"{place}: line {number} begins with {markup[1]}, so the file is a document; {remedy}")
        if line.startswith(POINTER):
            raise UserError(f"{place}: a pointer of Git LFS; fetch the file itself, by `git lfs pull`")
        yield line
        if line.strip():
            break
    yield from lines


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _column(lines: Iterator[str], column: int, place: str, separator: str | None) -> Iterator[str]:
    """Yield a column of each line; without a `separator` the first line that holds `BARS` or a tab shows it.

    The first line with a separator has all columns. One with more or fewer becomes empty; UserError if such lines are
    not rare.
    """
    broken = first = number = columns = 0
    for number, line in enumerate(lines, 1):
        if separator is None and (BARS in line or "\t" in line):
            separator = BARS if BARS in line else "\t"
        fields = line.split(separator) if separator else []
        if separator == BARS:
            columns = 2
        elif not columns and len(fields) > 1:
            columns = len(fields)
        if columns and column > columns:
            raise UserError(f"{place}: line {number} has {columns} columns; correct the number after the colon")
        if columns and len(fields) == columns:
            yield fields[column - 1].strip(" ")
        else:
            broken += 1
            first = first or number
            yield ""
    what = {BARS: f"two sides separated by {BARS}", "\t": f"{columns or 2} columns separated by tabs"}
    said = f"{place}: {broken} of {number} lines, first {first}, do not hold "
    said += what[separator] if separator else f"sides separated by a tab or by {BARS}"
    if broken > INVALID_ALLOWED * number:
        raise UserError(f"{said}; correct the file, or the number after the colon")
    if broken:
        warn(f"{said}; they are left empty")


def _place(archive: Path, member: str, column: int) -> str:
    return ":".join(str(part) for part in (archive, member, column) if part)
