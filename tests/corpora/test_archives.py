"""Which archives are read, whole or not at all: zip, tar with members twice, and gzip and xz to their last byte."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.corpora import archives
from nmt.corpora.archives import contents
from nmt.system.errors import UserError

TEXT = b"".join(b"line %d\n" % (number * number) for number in range(20_000))
HALF = len(TEXT) // 2


def read(path: Path, *members: str) -> dict[str, bytes]:
    return {member: stream.read() for member, stream in contents(path, members or [""])}


def written(tmp_path: Path, content: bytes) -> Path:
    (tmp_path / "x").write_bytes(content)
    return tmp_path / "x"


def refused(path: Path, *members: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        read(path, *members)
    assert str(caught.value).startswith(f"{path}: ")


def zipped(tmp_path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(tmp_path / "x.zip", "w", method) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return tmp_path / "x.zip"


# ---- zip


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_of_a_zip(tmp_path: Path, method: int) -> None:
    entries = [("README", b"?"), ("a/b.en", TEXT), ("./b.fi.gz", gzip.compress(TEXT[::-1])), ("empty", b"")]
    path = zipped(tmp_path, *entries, method=method)
    assert read(path, "b.fi.gz", "a/b.en", "empty") == {"a/b.en": TEXT, "b.fi.gz": TEXT[::-1], "empty": b""}


def test_a_zip_without_members_says_what_it_holds(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("README", b"?"), ("T.en-fi.en", TEXT), ("T.en-fi.fi", TEXT[1:]), ("folder/", b""))
    refused(path, said="a zip archive; name the file in it.*; its largest are T.en-fi.en, T.en-fi.fi, README$")
    refused(path, "T.en-fi.sv", said="no member T.en-fi.sv; the nearest are T.en-fi.fi")
    refused(zipped(tmp_path), "a", said="no member a; it holds no other file")


def test_a_name_that_looks_the_same_is_told_apart(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("donne\u0301es.en", TEXT))
    refused(path, "donn\u00e9es.en", said=r"\('donne\\u0301es.en', in another form of Unicode\); correct the member")


def test_of_a_name_that_a_zip_holds_twice_the_last_counts(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = zipped(tmp_path, ("a", b"older"), ("a", b"newer"))
    assert read(path, "a") == {"a": b"newer"}


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFDIR])
def test_links_and_devices_in_a_zip_are_refused(tmp_path: Path, kind: int) -> None:
    entry = zipfile.ZipInfo("a")
    entry.external_attr = (kind | 0o644) << 16
    refused(zipped(tmp_path, (entry, b"/etc/passwd")), "a", said="a is not a regular file")
    refused(zipped(tmp_path, ("a/", b"")), "a", said="a is not a regular file")


@pytest.mark.parametrize("name", ["../a", "/a", "b/../a"])
def test_a_name_that_leaves_the_folder_is_no_member(tmp_path: Path, name: str) -> None:
    refused(zipped(tmp_path, (name, TEXT)), "a", said="no member a")


def test_an_encrypted_member_is_named(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("a", b"text"), method=zipfile.ZIP_STORED)
    packed = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        packed[packed.index(mark) + place] |= 1
    path.write_bytes(packed)
    refused(path, "a", said="a is encrypted; decrypt it")


def test_a_method_that_is_not_read_is_named(tmp_path: Path) -> None:
    path = zipped(tmp_path, ("a", b"text"), method=zipfile.ZIP_STORED)
    packed = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        packed[packed.index(mark) + place] = 97
    path.write_bytes(packed)
    refused(path, "a", said="a is packed by a method that is not read; pack it again")


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_a_damaged_zip(tmp_path: Path, share: float) -> None:
    path = zipped(tmp_path, ("a", TEXT))
    packed = path.read_bytes()
    path.write_bytes(packed[: int(share * len(packed))])
    refused(path, "a", said="truncated or damaged")
    path.write_bytes(packed[:100] + bytes(1000) + packed[1100:])
    refused(path, "a", said="truncated or damaged")


def test_a_zip_that_has_lost_bytes_or_has_an_odd_header(tmp_path: Path) -> None:
    """As after a transfer in text mode; zipfile then seeks a place before the beginning."""
    path = zipped(tmp_path, ("a", TEXT), method=zipfile.ZIP_STORED)
    packed = path.read_bytes()
    path.write_bytes(packed[:HALF] + packed[HALF + 5000 :])
    refused(path, "a", said="truncated or damaged; replace it by a whole copy")
    path = zipped(tmp_path, ("a", TEXT), method=zipfile.ZIP_BZIP2)
    path.write_bytes(path.read_bytes()[:200] + bytes(9) + path.read_bytes()[209:])
    refused(path, "a", said="truncated or damaged; replace it by a whole copy")
    odd = bytearray(packed)
    odd[packed.rindex(b"PK\x01\x02") + 6] = 251  # the version that is needed to unpack it
    path.write_bytes(odd)
    refused(path, "a", said=r"truncated or damaged \(zip file version 25\.1\)")


def test_a_zip_that_expands_without_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "SPARE", 100_000)
    path = zipped(tmp_path, ("a", b"a\n" * 2_000_000))
    refused(path, "a", said="expands to more than 100 times its length")


def test_a_zip_inside_another_archive_is_refused(tmp_path: Path) -> None:
    inner = zipped(tmp_path, ("a", TEXT)).read_bytes()
    refused(zipped(tmp_path, ("b.zip", inner)), "b.zip", said="zip inside another archive, which is not read")
    refused(written(tmp_path, gzip.compress(inner)), said="compressed twice")


# ---- gzip and xz


def test_every_stream_is_read(tmp_path: Path) -> None:
    for pack in (gzip.compress, lzma.compress):
        assert read(written(tmp_path, pack(TEXT[:HALF]) + pack(b"") + pack(TEXT[HALF:]))) == {"": TEXT}
    for padding in (b"", bytes(4), bytes(4096)):
        assert read(written(tmp_path, lzma.compress(TEXT) + padding + lzma.compress(TEXT) + padding)) == {
            "": TEXT + TEXT
        }
    assert read(written(tmp_path, gzip.compress(TEXT) + bytes(100))) == {"": TEXT}


@pytest.mark.parametrize("check", [lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_SHA256])
def test_what_follows_a_stream_is_not_passed_over(tmp_path: Path, check: int) -> None:
    first, second = (lzma.compress(part, check=check) for part in (TEXT[:HALF], TEXT[HALF:]))
    damaged = bytearray(second)
    damaged[3] ^= 1
    for wrong in (first + damaged, first + bytes(3) + second, first + bytes(5), first + b"!", first + second[:20]):
        refused(written(tmp_path, wrong), said="truncated or damaged .*replace it by a whole copy")


def test_other_data_after_the_end_of_gzip(tmp_path: Path) -> None:
    refused(
        written(tmp_path, gzip.compress(TEXT) + b"more\n"), said="holds other data after the end of what gzip packed"
    )


@pytest.mark.parametrize("outer", [gzip.compress, lzma.compress])
@pytest.mark.parametrize("inner", [gzip.compress, lzma.compress])
def test_text_compressed_twice(
    tmp_path: Path, outer: Callable[[bytes], bytes], inner: Callable[[bytes], bytes]
) -> None:
    refused(written(tmp_path, outer(inner(TEXT))), said="compressed twice; unpack it once")


def test_nobody_is_told_to_fetch_a_file_of_his_own(tmp_path: Path) -> None:
    """What is said of a damaged file holds for one that was fetched and for one that was not."""
    path = written(tmp_path, gzip.compress(TEXT)[:1000])
    refused(path, said="replace it by a whole copy; what was fetched is fetched again once it is removed")


# ---- tar


def tarred(tmp_path: Path, *members: tuple[str, bytes], form: int = tarfile.PAX_FORMAT) -> Path:
    with tarfile.open(tmp_path / "x.tar", "w", format=form) as archive:
        for name, content in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return tmp_path / "x.tar"


@pytest.mark.parametrize("again", ["d/a", "./d/a", "d//a", "d/./a"])
def test_of_a_member_that_a_tar_holds_twice_the_last_counts(tmp_path: Path, again: str) -> None:
    path = tarred(tmp_path, ("d/a", b"older"), ("b", b"b"), (again, b"new"))
    assert read(path, "d/a", "b") == {"d/a": b"new", "b": b"b"}


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_a_tar_inside_another_archive_is_refused(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    inner = pack(tarred(tmp_path, ("a", TEXT)).read_bytes())
    for outer in (zipped(tmp_path, ("b.en", inner)), tarred(tmp_path, ("b.en", inner))):
        refused(outer, "b.en", said="b.en is a tar archive inside another archive, which is not read; unpack it")


def oldest(path: Path) -> Path:
    """`path` as a tar of Unix Version 7, whose headers have no mark."""
    content = bytearray(path.read_bytes())
    header = content[:512]
    header[257:] = bytes(255)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    content[:512] = header
    path.write_bytes(content)
    return path


def test_the_oldest_kind_of_tar(tmp_path: Path) -> None:
    path = oldest(tarred(tmp_path, ("a", TEXT), form=tarfile.USTAR_FORMAT))
    assert b"ustar" not in path.read_bytes()[:512]
    refused(path, said="a tar archive; name the file in it")
    assert read(path, "a") == {"a": TEXT}


def test_a_damaged_header_is_not_the_end(tmp_path: Path) -> None:
    path = tarred(tmp_path, ("a", b"a"), ("b", b"b"), ("c", b"c"), form=tarfile.USTAR_FORMAT)
    content = bytearray(path.read_bytes())
    content[1024 + 150] ^= 1
    path.write_bytes(content)
    refused(path, "a", "c", said="truncated or damaged .a header is damaged: bad checksum")
    path.write_bytes(content[: 1024 + 300])
    refused(path, "a", "c", said="truncated or damaged .a header is damaged: truncated header")


def test_nothing_follows_the_end_of_a_tar(tmp_path: Path) -> None:
    """Where a header has become zeros, the archive would seem to end, without the members that follow."""
    path = tarred(tmp_path, ("a", b"a"), ("b", TEXT), form=tarfile.USTAR_FORMAT)
    whole = path.read_bytes()
    assert whole[1024:1025] == b"b"
    for more in (whole[:1024] + bytes(512) + whole[1536:], whole + whole, whole + b"garbage"):
        path.write_bytes(more)
        refused(path, "a", said="holds other data after the end of the tar archive; replace it by a whole copy")
    path.write_bytes(whole + bytes(30_000))
    assert read(path, "a", "b") == {"a": b"a", "b": TEXT}


def test_a_tar_is_read_to_its_end(tmp_path: Path) -> None:
    """A later member may be the valid one: a truncated archive is refused even where all members were seen."""
    path = tarred(tmp_path, ("a", b"a"), ("z", TEXT))
    path.write_bytes(path.read_bytes()[:100_000])
    refused(path, "a", said="not a whole tar archive")


def test_a_hard_link_says_which_member_to_name(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        first, again = tarfile.TarInfo("a"), tarfile.TarInfo("b")
        again.type, again.linkname = tarfile.LNKTYPE, "a"
        archive.addfile(first)
        archive.addfile(again)
    refused(tmp_path / "x.tar", "b", said="b is not a regular file, but a hard link to a; name that")


@pytest.mark.parametrize(("pack", "end"), [(gzip.compress, 8), (lzma.compress, 40)])
def test_what_holds_a_tar_is_read_to_its_end(tmp_path: Path, pack: Callable[[bytes], bytes], end: int) -> None:
    """Where the tar ends with a block that is read, nothing else asks for the check sum that follows."""
    path = tarred(tmp_path, ("a", TEXT))
    whole = pack(path.read_bytes().ljust(archives.BLOCK, b"\0"))
    path.write_bytes(whole)
    assert read(path, "a") == {"a": TEXT}
    path.write_bytes(whole[:-end])
    refused(path, "a", said="truncated or damaged")


# ---- sources


def test_a_source_is_a_regular_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is opened: opening a pipe waits for a writer."""
    monkeypatch.setattr("builtins.open", None)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name, said in (
        ("pipe", "a pipe or a device"),
        ("zero", "a pipe or a device"),
        (".", "a folder"),
        ("no", "no such file"),
    ):
        with pytest.raises(UserError, match=said):
            read(tmp_path / name)
