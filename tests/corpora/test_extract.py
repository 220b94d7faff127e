"""Extraction from every kind of archive, and from archives broken in every way."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.corpora import archives as reading
from nmt.corpora import extract as extracting
from nmt.corpora.extract import extract
from nmt.system.checksums import sha256
from nmt.system.errors import UserError
from nmt.system.text import read_lines
from tests.conftest import SmallDisk

ENGLISH = "The house .\nA very long road .\n\nThe end .\n"
FRENCH = "La maison .\nUne très longue route .\n\nLa fin .\n"


def tar(path: Path, members: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def plain(tmp_path: Path, english: bytes, french: bytes) -> tuple[Path, Path]:
    (tmp_path / "x.en").write_bytes(english)
    (tmp_path / "x.fr").write_bytes(french)
    return tmp_path / "x.en", tmp_path / "x.fr"


def sides(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "out" / "c.en", tmp_path / "out" / "c.fr"


def extracted(
    tmp_path: Path, archives: tuple[Path, Path], members: tuple[str, str] = ("", "")
) -> tuple[list[str], list[str]]:
    outputs = sides(tmp_path)
    extract("c", archives, members, outputs)
    return list(read_lines(outputs[0])), list(read_lines(outputs[1]))


def refused(tmp_path: Path, archives: tuple[Path, Path], members: tuple[str, str] = ("", ""), *, said: str) -> str:
    outputs = sides(tmp_path)
    with pytest.raises(UserError, match=said) as caught:
        extract("c", archives, members, outputs)
    assert not outputs[0].parent.exists() or not any(outputs[0].parent.iterdir())
    assert "\n" not in str(caught.value)
    return str(caught.value)


LINES = (ENGLISH.split("\n")[:-1], FRENCH.split("\n")[:-1])


def test_a_member_is_found_with_and_without_the_folder_before_it(tmp_path: Path) -> None:
    archive = tar(tmp_path / "c.tgz", {"-c.en": ENGLISH.encode(), "./c.fr": FRENCH.encode()})
    assert extracted(tmp_path, (archive, archive), ("./-c.en", "c.fr")) == LINES


@pytest.mark.parametrize("mode", ["w:gz", "w", "w:xz"])
@pytest.mark.parametrize("prefix", ["", "./"])
@pytest.mark.parametrize("swapped", [False, True])
def test_both_sides_in_one_tar(tmp_path: Path, mode: str, prefix: str, swapped: bool) -> None:
    members = {
        "training/c.cs-en.en": b"other",
        f"{prefix}training/c.fr-en.en": ENGLISH.encode(),
        f"{prefix}training/c.fr-en.fr": FRENCH.encode(),
    }
    archive = tar(tmp_path / "c.tgz", dict(reversed(members.items())) if swapped else members, mode)
    assert extracted(tmp_path, (archive, archive), ("training/c.fr-en.en", "training/c.fr-en.fr")) == LINES


def test_a_member_may_be_called_as_a_file_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where it has been extracted before."""
    monkeypatch.chdir(tmp_path)
    both = str(tar(tmp_path / "t.tgz", {"s.en": b"a\n", "s.fr": b"b\n"}))
    words = ["extract", "--name", "s.en", "--archives", both, both, "--members", "s.en", "s.fr", "--normalize", "nfc"]
    for _ in range(2):
        assert main([*words, "--digests", "", "", "--expected-pairs", "--outputs", "s.en", "s.fr"]) == 0
    assert (Path("s.en").read_text(), Path("s.fr").read_text()) == ("a\n", "b\n")


def test_gzip_inside_tar(tmp_path: Path) -> None:
    members = {"g.en.gz": gzip.compress(ENGLISH.encode()), "g.fr.gz": gzip.compress(FRENCH.encode())}
    archive = tar(tmp_path / "g.tar", members, "w")
    assert extracted(tmp_path, (archive, archive), ("g.en.gz", "g.fr.gz")) == LINES


@pytest.mark.parametrize("pack", [lzma.compress, gzip.compress, bytes])
def test_files_without_members(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    archives = plain(tmp_path, pack(ENGLISH.encode()), pack(FRENCH.encode()))
    assert extracted(tmp_path, archives) == LINES


@pytest.mark.parametrize(
    ("pack", "kind"),
    [
        (bz2.compress, "bzip2"),
        (lambda _: bz2.compress(b""), "bzip2"),
        (lambda text: b"\x28\xb5\x2f\xfd" + text, "Zstandard"),
        (lambda text: b"\x50\x2a\x4d\x18\x04\0\0\0" + text, "Zstandard"),  # as pzstd begins
        (lambda text: b"\x04\x22\x4d\x18" + text, "lz4"),
        (lambda text: b"LZIP\x01" + text, "lzip"),
        (lambda text: lzma.compress(text, lzma.FORMAT_ALONE), "lzma"),
        (lambda text: b"7z\xbc\xaf\x27\x1c" + text, "7z"),
        (lambda text: b"Rar!\x1a\x07\x01\0" + text, "RAR"),
    ],
)
def test_other_compression_is_named(tmp_path: Path, pack: Callable[[bytes], bytes], kind: str) -> None:
    """By the first bytes, whatever the name, and inside a tar as well."""
    said = f"compressed with {kind}, which is not read; unpack it"
    refused(tmp_path, plain(tmp_path, pack(ENGLISH.encode()), FRENCH.encode()), said=said)
    archive = tar(tmp_path / "c.tgz", {"a.en": pack(ENGLISH.encode()), "a.fr": FRENCH.encode()})
    refused(tmp_path, (archive, archive), ("a.en", "a.fr"), said=said)


def test_a_line_that_begins_with_such_letters_is_text(tmp_path: Path) -> None:
    english, french = extracted(tmp_path, plain(tmp_path, b"BZh9 is a mark.\n", b"PK n'en est pas une.\n"))
    assert (english, french) == (["BZh9 is a mark."], ["PK n'en est pas une."])


TITLES = "Helsinki ||| Helsinki\r\nTalo|||House \n ||| Empty\n||| \nUusi\u2028talo  |||  A new | house\n"


def test_both_sides_on_one_line(tmp_path: Path) -> None:
    expected = (["Helsinki", "House", "Empty", "", "A new | house"], ["Helsinki", "Talo", "", "", "Uusi\u2028talo"])
    archive = tar(tmp_path / "t.tgz", {"./wiki/titles.fi-en": TITLES.encode(), "wiki/titles.fi-en:1": b"another"})
    assert extracted(tmp_path, (archive, archive), ("wiki/titles.fi-en:2", "./wiki/titles.fi-en:1")) == expected
    bare = tmp_path / "titles.gz"
    bare.write_bytes(gzip.compress(TITLES.encode()))
    assert extracted(tmp_path, (bare, bare), (":2", ":1")) == expected


def titles(tmp_path: Path, *broken: str) -> tuple[Path, Path]:
    """An archive of 200 titles, twice; those from the seventh on are `broken`."""
    lines = ["Talo ||| House"] * 200
    lines[6 : 6 + len(broken)] = broken
    archive = tar(tmp_path / "t.tgz", {"titles": "\n".join(lines).encode()})
    return archive, archive


def test_few_lines_without_two_sides_are_left_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    english, finnish = extracted(tmp_path, titles(tmp_path, "Talo", "a ||| b ||| c"), ("titles:2", "titles:1"))
    assert (english[5:9], finnish[5:9]) == (["House", "", "", "House"], ["Talo", "", "", "Talo"])
    warnings = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    said = "2 of 200 lines, first 7, do not hold two sides separated by |||; they are left empty"
    assert [line.partition("t.tgz:")[2] for line in warnings] == [f"titles:2: {said}", f"titles:1: {said}"]


@pytest.mark.parametrize("broken", ["Talo", "Talo | House", "Talo ||| House ||| Home", ""])
def test_many_lines_without_two_sides_are_refused(tmp_path: Path, broken: str) -> None:
    said = r"^c: .*t\.tgz:titles:2: 3 of 200 lines, first 7, do not hold two sides separated by \|\|\|; correct"
    refused(tmp_path, titles(tmp_path, broken, broken, broken), ("titles:2", "titles:1"), said=said)


def test_sgml(tmp_path: Path) -> None:
    start = '<srcset setid="t" srclang="any">\n<doc docid="1">\n<hl>\n'
    english = (
        start
        + '<seg id="1"> Tom &amp; "Ann" &lt;b&gt; </seg>\r\n</hl>\n<p>\n<SEG id="2">one\n\t two&#39;s &eacute; &#xe9;'
    )
    english += '</SEG><seg id="3"></seg></p></doc></srcset>'
    french = start + '<seg id="1">Tom &amp;amp; Ann</seg><seg id="2">a\u00a0b\u2028c</seg>\n<seg id="3">fin</seg>'
    archive = tar(tmp_path / "t.tgz", {"t/src.en.sgm": english.encode(), "t/ref.fr.sgm": french.encode()})
    assert extracted(tmp_path, (archive, archive), ("t/src.en.sgm", "t/ref.fr.sgm")) == (
        ['Tom & "Ann" <b>', "one two's &eacute; é", ""],
        ["Tom &amp; Ann", "a\u00a0b\u2028c", "fin"],
    )


def test_one_side_in_sgml(tmp_path: Path) -> None:
    archive = tar(tmp_path / "t.tgz", {"a.en": b"one\ntwo\n", "b.sgm": b"<seg>un</seg>\n<seg>deux</seg>"})
    assert extracted(tmp_path, (archive, archive), ("a.en", "b.sgm")) == (["one", "two"], ["un", "deux"])
    assert extracted(tmp_path, (archive, archive), ("b.sgm", "a.en")) == (["un", "deux"], ["one", "two"])


def test_sgml_that_ends_in_a_segment(tmp_path: Path) -> None:
    archive = tar(tmp_path / "t.tgz", {"a.sgm": b"<seg>one</seg>\n<seg>tw", "b.sgm": b"<seg>un</seg>"})
    refused(tmp_path, (archive, archive), ("a.sgm", "b.sgm"), said="a <seg> is not closed")


def test_sgml_without_segments(tmp_path: Path) -> None:
    archive = tar(tmp_path / "t.tgz", {"a.sgm": b"<doc></doc>", "b.sgm": b"<seg>un</seg>"})
    refused(tmp_path, (archive, archive), ("a.sgm", "b.sgm"), said="empty")


def test_odd_characters_are_kept_or_removed(tmp_path: Path) -> None:
    english = "\ufeffa\r\nb\0c\nd\u2028e\u0085f\fg\x0bh\x1ci\nj\rk\n\ufeffl".encode()
    first, _ = extracted(tmp_path, plain(tmp_path, english, b"1\n2\n3\n4\n5\n"))
    assert first == ["a", "b c", "d\u2028e\u0085f\fg\x0bh\x1ci", "j\rk", "l"]


def test_a_line_of_a_hundred_thousand_words(tmp_path: Path) -> None:
    long = ("word " * 100_000).strip()
    assert extracted(tmp_path, plain(tmp_path, long.encode(), b"x"))[0] == [long]


def test_few_invalid_bytes_are_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    english = b"caf\xe9\n" + b"fine\n" * 199
    first, _ = extracted(tmp_path, plain(tmp_path, english, b"x\n" * 200))
    assert first[0] == "caf\ufffd"
    warnings = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert len(warnings) == 1
    assert "x.en: 1 of 200 lines, first 1," in warnings[0]


def test_many_invalid_bytes_are_refused(tmp_path: Path) -> None:
    broken = b"caf\xe9\n" * 3 + "café\n".encode() * 197
    refused(tmp_path, plain(tmp_path, broken, b"x\n" * 200), said=r"x\.en: line 1 is not UTF-8, as are 3 of 200 lines")


def test_a_side_in_latin_1_is_refused(tmp_path: Path) -> None:
    french = "Rien .\nLa forêt était là .\nIl a mangé .\n"
    archive = tar(tmp_path / "c.tgz", {"c.en": b"a\n" * 3, "c.fr": french.encode("latin-1")})
    said = r"^c: .*c\.tgz:c\.fr: line 2 is not UTF-8, as are 2 of 3 lines; find out in which encoding the file is"
    refused(tmp_path, (archive, archive), ("c.en", "c.fr"), said=said)


def test_a_side_in_latin_1_with_few_accents_is_refused(tmp_path: Path) -> None:
    """English text with an accent on one line in a thousand: fewer than the share of invalid lines that is allowed."""
    rare = [b"caf\xe9\n" if number % 1000 == 999 else b"fine\n" for number in range(20_000)]
    refused(tmp_path, plain(tmp_path, b"".join(rare), b"x\n" * 20_000), said=r"x\.en: line 1000 is not UTF-8")
    mixed = [line if number % 100 else "café\n".encode() for number, line in enumerate(rare)]
    assert extracted(tmp_path, plain(tmp_path, b"".join(mixed), b"x\n" * 20_000))[0][999] == "caf\ufffd"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", [ENGLISH, FRENCH, "Привет .\nОчень длинная дорога .\n", "a\r\nb\r\n", "a", "a\nb"])
def test_utf_16_without_a_mark_is_refused(tmp_path: Path, encoding: str, text: str) -> None:
    refused(tmp_path, plain(tmp_path, text.encode(encoding), b"x\n"), said=r"x\.en: \d of \d lines are UTF-16; convert")


@pytest.mark.parametrize("end", [b"", b"\r", b"\n", b"\r\n"])
def test_carriage_returns_alone_are_refused(tmp_path: Path, end: bytes) -> None:
    refused(tmp_path, plain(tmp_path, b"a\rb\rc" + end, b"x\n"), said=r"x\.en: lines end in carriage returns")


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sparse file in a tar archive holds gigabytes of zeros in a few bytes."""
    monkeypatch.setattr(extracting, "LONGEST", 1000)
    archives = plain(tmp_path, b"a\nb\n" + b"a" * 1001, b"x\n" * 3)
    refused(tmp_path, archives, said=r"x\.en: line 3 is longer than 1000 bytes")
    with tarfile.open(tmp_path / "s.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo("a.en")
        entry.pax_headers = {"GNU.sparse.size": str(1 << 40), "GNU.sparse.offset": "0", "GNU.sparse.numbytes": "0"}
        archive.addfile(entry)
    refused(tmp_path, (tmp_path / "s.tar",) * 2, ("a.en", "a.fr"), said=r"s\.tar:a\.en: line 1 is longer")
    assert extracted(tmp_path, plain(tmp_path, b"a" * 999 + b"\nb\n", b"c\nd\n"))[0] == ["a" * 999, "b"]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
@pytest.mark.parametrize("place", ["alone", "member", "passed", "nested"])
def test_an_archive_that_expands_without_measure_is_refused(
    tmp_path: Path, pack: Callable[[bytes], bytes], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "SPARE", 100_000)
    bomb, members = b"a\n" * 2_000_000, ("", "")
    (tmp_path / "bomb").write_bytes(pack(bomb))
    if place != "alone":
        members = ("a.en", "a.fr")
        inside = pack(bomb) if place == "nested" else bomb
        tar(tmp_path / "bomb.tar", {"z" if place == "passed" else "a.en": inside, "a.fr": b"a\n"}, "w")
        packed = (tmp_path / "bomb.tar").read_bytes()
        (tmp_path / "bomb").write_bytes(packed if place == "nested" else pack(packed))
    refused(tmp_path, (tmp_path / "bomb",) * 2, members, said="bomb: expands to more than 100 times its length")


@pytest.mark.parametrize("headers", [{"GNU.sparse.map": "x"}, {"GNU.sparse.size": "x"}, {"size": "-1"}])
def test_headers_that_tarfile_does_not_expect(tmp_path: Path, headers: dict[str, str]) -> None:
    with tarfile.open(tmp_path / "t.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo("a.en")
        entry.pax_headers = headers
        archive.addfile(entry)
    refused(tmp_path, (tmp_path / "t.tar",) * 2, ("a.en", "a.fr"), said=r"t\.tar")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_utf_16_and_utf_32_are_refused(tmp_path: Path, encoding: str) -> None:
    text = "\ufeff" + ENGLISH
    refused(tmp_path, plain(tmp_path, text.encode(encoding), b"x\n"), said=rf"x\.en: line 1 is {encoding[:6].upper()};")


@pytest.mark.parametrize(
    "start",
    ["<?xml version='1.0'?>", "\ufeff<!DOCTYPE html>", "\n \n<HTML>", '  <tmx version="1.4">', "<!-- a page -->"],
)
def test_a_document_of_markup_is_refused(tmp_path: Path, start: str) -> None:
    archives = plain(tmp_path, gzip.compress(f"{start}\n{ENGLISH}".encode()), b"x\n")
    number = start.count("\n") + 1
    refused(tmp_path, archives, said=rf"x\.en: line {number} begins with <.*convert it to one sentence a line")


@pytest.mark.parametrize("start", ['<srcset setid="a">', "<DOC>", '<seg id="1">A house.</seg>'])
def test_sgml_that_is_not_named_so_is_refused(tmp_path: Path, start: str) -> None:
    archives = plain(tmp_path, f"{start}\n{ENGLISH}".encode(), b"x\n")
    refused(tmp_path, archives, said=rf"x\.en: line 1 begins with {start[:4]}.*; name the file \.sgm$")


def test_a_pointer_of_git_lfs_is_no_text(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    refused(tmp_path, plain(tmp_path, pointer, pointer), said=r"x\.en: a pointer of Git LFS; fetch the file itself")


def test_markup_within_a_text_is_kept(tmp_path: Path) -> None:
    english, _ = extracted(tmp_path, plain(tmp_path, b"<b>a</b>\n<html>\n", b"x\ny\n"))
    assert english == ["<b>a</b>", "<html>"]


def test_unequal_sides(tmp_path: Path) -> None:
    archives = plain(tmp_path, b"a\nb\nc\n", b"a\nb\n")
    refused(tmp_path, archives, said=r"c: 3 lines in .*x\.en but 2 in .*x\.fr")


@pytest.mark.parametrize("content", [b"", gzip.compress(b""), lzma.compress(b"")], ids=["plain", "gzip", "xz"])
def test_empty(tmp_path: Path, content: bytes) -> None:
    refused(tmp_path, plain(tmp_path, b"a\n", content), said=r"x\.fr: empty")


def test_a_file_that_has_changed_since_the_run_began(tmp_path: Path) -> None:
    """It may be set back later, and nothing would show what was read."""
    archives = plain(tmp_path, ENGLISH.encode(), FRENCH.encode())
    outputs, digests = sides(tmp_path), [sha256(file) for file in archives]
    extract("c", archives, ("", ""), outputs, digests=digests)
    archives[1].write_text(FRENCH.upper())
    before = outputs[1].read_text()
    with pytest.raises(UserError, match=r"x\.fr: changed since the run began; start the run again"):
        extract("c", archives, ("", ""), outputs, digests=digests)
    assert outputs[1].read_text() == before
    extract("c", archives, ("", ""), outputs, digests=[digests[0], ""])


def test_unexpected_number_of_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archives = plain(tmp_path, b"a\nb\n", b"a\nb\n")
    assert extract("c", archives, ("", ""), sides(tmp_path), expected_pairs=2) == 2
    assert "warning" not in capsys.readouterr().err
    assert extract("c", archives, ("", ""), sides(tmp_path), expected_pairs=7) == 2
    assert "c: 2 pairs where the registry expects 7" in capsys.readouterr().err


def test_a_missing_member_is_an_error_with_the_nearest_names(tmp_path: Path) -> None:
    members = {
        "test/newstest2013-src.en.sgm": b"<seg>a</seg>",
        "test/newstest2013-src.fr.sgm": b"<seg>b</seg>",
    }
    archive = tar(tmp_path / "t.tgz", members)
    said = refused(
        tmp_path,
        (archive, archive),
        ("test/newstest2013-src.en.sgm", "test/newstest2013-ref.fr.sgm"),
        said=r"t\.tgz: no member test/newstest2013-ref\.fr\.sgm",
    )
    assert "test/newstest2013-src.fr.sgm" in said


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_members_that_are_not_files(tmp_path: Path, kind: bytes) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret\n")
    with tarfile.open(tmp_path / "t.tar", "w") as archive:
        entry = tarfile.TarInfo("a.en")
        entry.type, entry.linkname = kind, str(secret)
        archive.addfile(entry)
    refused(tmp_path, (tmp_path / "t.tar",) * 2, ("a.en", "a.fr"), said="a.en is not a regular file")


@pytest.mark.parametrize("name", ["../a.en", "/a.en", "b/../a.en"])
def test_members_outside_the_folder(tmp_path: Path, name: str) -> None:
    archive = tar(tmp_path / "t.tar", {name: ENGLISH.encode(), "a.fr": FRENCH.encode()}, "w")
    refused(tmp_path, (archive, archive), ("a.en", "a.fr"), said=r"t\.tar: no member a\.en")


NOISE = "".join(f"line {number * number} and {number**3 % 977}\n" for number in range(20_000)).encode()


@pytest.mark.parametrize("share", [0.2, 0.6, 0.99])
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_truncated_files(tmp_path: Path, pack: object, share: float) -> None:
    assert callable(pack)
    packed = pack(NOISE)
    archives = plain(tmp_path, packed, packed[: int(len(packed) * share)])
    refused(tmp_path, archives, said=r"x\.fr: truncated or damaged")


@pytest.mark.parametrize("share", [0.001, 0.2, 0.6, 0.99])
@pytest.mark.parametrize("mode", ["w:gz", "w", "w:xz"])
def test_truncated_tar(tmp_path: Path, mode: str, share: float) -> None:
    archive = tar(tmp_path / "t.tgz", {"a.en": NOISE, "a.fr": NOISE}, mode)
    content = archive.read_bytes()
    archive.write_bytes(content[: max(20, int(len(content) * share))])
    refused(tmp_path, (archive, archive), ("a.en", "a.fr"), said=r"t\.tgz: .*replace it by a whole copy")


def test_damaged_in_the_middle(tmp_path: Path) -> None:
    for pack in (gzip.compress, lzma.compress):
        packed = bytearray(pack(NOISE))
        middle = len(packed) // 2
        packed[middle : middle + 50] = bytes(50)
        refused(tmp_path, plain(tmp_path, b"a\n", bytes(packed)), said="truncated or damaged")


def test_tar_without_members_and_members_without_tar(tmp_path: Path) -> None:
    archive = tar(tmp_path / "t.tgz", {"a.en": b"a\n"})
    refused(tmp_path, (archive, archive), said="t.tgz: a tar archive; name the file in it")
    refused(tmp_path, plain(tmp_path, b"a\n" * 600, b"b\n" * 600), ("a", "b"), said="not a whole tar .*name no member")


def test_absent_archive(tmp_path: Path) -> None:
    refused(tmp_path, (tmp_path / "no.tgz", tmp_path / "no.tgz"), ("a", "b"), said=r"no\.tgz: no such file")


def test_full_disk_in_the_middle(tmp_path: Path, small_disk: SmallDisk) -> None:
    archives = plain(tmp_path, b"a\n" * 20_000, "é\n".encode() * 20_000)
    outputs = small_disk.folder / "c.en", small_disk.folder / "c.fr"
    small_disk.limit(50_000)
    with pytest.raises(UserError, match=r"c\.fr: no space left; free some and repeat"):
        extract("c", archives, ("", ""), outputs)
    assert list(small_disk.folder.iterdir()) == []
    small_disk.free()
    assert extract("c", archives, ("", ""), outputs) == 20_000


def test_earlier_outputs_survive_a_failure(tmp_path: Path) -> None:
    archives = plain(tmp_path, b"a\nb\n", b"a\nb\n")
    extract("c", archives, ("", ""), sides(tmp_path))
    archives[1].write_bytes(b"a\n")
    with pytest.raises(UserError):
        extract("c", archives, ("", ""), sides(tmp_path))
    assert [path.read_bytes() for path in sides(tmp_path)] == [b"a\nb\n", b"a\nb\n"]
    assert len(list(sides(tmp_path)[0].parent.iterdir())) == 2


@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_the_only_side_of_a_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str], pack: object) -> None:
    assert callable(pack)
    (tmp_path / "news.2007.fr.shuffled.gz").write_bytes(pack(FRENCH.encode()))
    words = ["extract", "--name", "c", "--archives", str(tmp_path / "news.2007.fr.shuffled.gz"), "--members", ""]
    words += ["--outputs", str(tmp_path / "out/c.fr"), "--expected-pairs", "5"]
    assert main(words) == 0
    assert list(read_lines(tmp_path / "out/c.fr")) == LINES[1]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["c.fr"]
    assert "c: 4 lines where the registry expects 5" in capsys.readouterr().err
    assert main([*words, "--members", "", ""]) == 1
    assert "give each of them once for each side" in capsys.readouterr().err


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archives = [str(path) for path in plain(tmp_path, b"a\n", b"b\nc\n")]
    outputs = [str(path) for path in sides(tmp_path)]
    words = ["extract", "--name", "c", "--archives", *archives, "--members", "", "", "--outputs", *outputs]
    assert main(words) == 1
    assert "nmt extract: c: 1 lines in" in capsys.readouterr().err
    Path(archives[0]).write_bytes(b"a\nd\n")
    assert main([*words, "--expected-pairs", "2"]) == 0
    assert Path(outputs[0]).read_bytes() == b"a\nd\n"


def table(tmp_path: Path, name: str, text: str) -> tuple[Path, Path]:
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return tmp_path / name, tmp_path / name


PAIRS = "One house\tYksi talo\nA ||| b\tC ||| d\r\n\t\nThe end\tLoppu\n"
COLUMNS = (["One house", "A ||| b", "", "The end"], ["Yksi talo", "C ||| d", "", "Loppu"])


@pytest.mark.parametrize("name", ["p.tsv", "p.tsv.gz", "P.TSV", "p.txt"])
def test_tabs_separate_the_sides(tmp_path: Path, name: str) -> None:
    """The name says so, or the first line that holds a separator."""
    assert extracted(tmp_path, table(tmp_path, name, PAIRS), (":1", ":2")) == COLUMNS
    assert extracted(tmp_path, table(tmp_path, name, PAIRS), (":2", ":1")) == COLUMNS[::-1]
    archive = tar(tmp_path / "t.tgz", {name.removesuffix(".gz"): PAIRS.encode()})
    members = tuple(f"{name.removesuffix('.gz')}:{column}" for column in (1, 2))
    assert extracted(tmp_path, (archive, archive), members) == COLUMNS  # type: ignore[arg-type]


def test_bars_within_a_table_and_tabs_between_bars_are_text(tmp_path: Path) -> None:
    text = "a ||| b\tc\nd ||| e\n"
    assert extracted(tmp_path, table(tmp_path, "p.tsv", text * 99 + "f\tg\n" * 9900), (":1", ":2"))[0][:2] == [
        "a ||| b",
        "",
    ]
    assert extracted(tmp_path, table(tmp_path, "p", text), (":1", ":2")) == (["a", "d"], ["b\tc", "e"])


def test_a_table_may_have_more_columns(tmp_path: Path) -> None:
    scores = table(tmp_path, "p.tsv", "1.2\ta\tb\n1.1\tc\td\n")
    refused(tmp_path, scores, (":2", ":4"), said=r"p\.tsv:4: line 1 has 3 columns; correct the number")
    assert extracted(tmp_path, scores, (":2", ":3")) == (["a", "c"], ["b", "d"])


def test_lines_with_other_columns_are_refused_unless_rare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = "a\tb\n" * 100
    many = table(tmp_path, "p.tsv", f"{lines}c\n{lines}d\te\tf\n\n")
    refused(tmp_path, many, (":1", ":2"), said="3 of 203 lines, first 101")
    none = table(tmp_path, "p", "a b\nc d\n")
    said = r"2 of 2 lines, first 1, do not hold sides separated by a tab or by \|\|\|"
    refused(tmp_path, none, (":1", ":2"), said=said)
    one = table(tmp_path, "p.tsv", f"{lines}c\n{lines}")
    assert extracted(tmp_path, one, (":1", ":2"))[1][100] == ""
    assert "do not hold 2 columns separated by tabs; they are left empty" in capsys.readouterr().err


def test_nulls_are_not_taken_for_utf_16(tmp_path: Path) -> None:
    said = r"x\.en: 2 of 2 lines begin or end in NULs; remove them"
    refused(tmp_path, plain(tmp_path, b"one word\0\nanother\0\n", b"x\ny\n"), said=said)
    refused(tmp_path, plain(tmp_path, bytes(1000), b"x\n"), said=r"x\.en: 1 of 1 lines begin or end in NULs")


def test_bytes_that_are_no_text_are_not_taken_for_latin_1(tmp_path: Path) -> None:
    noise = bytes(range(1, 10)) + bytes(range(128, 256)) + b"\n"
    refused(tmp_path, plain(tmp_path, noise * 20, b"x\n" * 20), said=r"x\.en: line 1 is no text, as are 20 of 20 lines")


SOURCE = '<doc docid="{}"><seg id="1">one {}</seg><seg id="2">two {}</seg></doc>'
TARGET = "<doc sysid='ref' docid='{}'><seg id=1>yksi {}</seg><seg id=2>kaksi {}</seg></doc>"


def documents(tmp_path: Path, sources: str, targets: str) -> tuple[tuple[Path, Path], tuple[str, str]]:
    texts = {"s.sgm": SOURCE, "t.sgm": TARGET}
    members = {
        name: "".join(texts[name].replace("{}", one) for one in order).encode()
        for name, order in zip(texts, (sources, targets), strict=True)
    }
    archive = tar(tmp_path / "d.tgz", members)
    return (archive, archive), ("s.sgm", "t.sgm")


def test_segments_of_the_same_document_and_number_are_pairs(tmp_path: Path) -> None:
    expected = ["one a", "two a", "one b", "two b"], ["yksi a", "kaksi a", "yksi b", "kaksi b"]
    assert extracted(tmp_path, *documents(tmp_path, "ab", "ab")) == expected
    assert extracted(tmp_path, *documents(tmp_path, "ab", "ba")) == expected


@pytest.mark.parametrize(
    ("old", "new"), [(r" id=\S+?>", ">"), (r"(?<=>)<seg id=\"?2\"?>", "<seg>"), (r"<doc [^>]*>", "<doc>")]
)
def test_segments_without_identifiers(tmp_path: Path, old: str, new: str) -> None:
    """Their place in the document counts, or where documents have no name, that in the file."""
    sides = [re.sub(old, new, one.replace("{}", "{0}")) for one in (SOURCE, TARGET)]
    assert sides != [SOURCE, TARGET]
    named = "docid" in sides[0]
    texts = ["".join(side.format(one) for one in order) for side, order in zip(sides, ("ab", "ba"), strict=True)]
    archive = tar(tmp_path / "d.tgz", {"s.sgm": texts[0].encode(), "t.sgm": texts[1].encode()})
    found = extracted(tmp_path, (archive, archive), ("s.sgm", "t.sgm"))
    assert found[0] == ["one a", "two a", "one b", "two b"]
    assert [line[-1] for line in found[1]] == list("aabb" if named else "bbaa")


def test_titles_without_a_number_are_pairs_of_their_own(tmp_path: Path) -> None:
    texts = [side.replace("<seg", "<hl><seg>T</seg></hl><seg", 1) for side in (SOURCE, TARGET)]
    joined = [
        "".join(side.replace("{}", one) for one in order) for side, order in zip(texts, ("ab", "ba"), strict=True)
    ]
    archive = tar(tmp_path / "d.tgz", {"s.sgm": joined[0].encode(), "t.sgm": joined[1].encode()})
    found = extracted(tmp_path, (archive, archive), ("s.sgm", "t.sgm"))
    assert found == (
        ["T", "one a", "two a", "T", "one b", "two b"],
        ["T", "yksi a", "kaksi a", "T", "yksi b", "kaksi b"],
    )


def test_the_two_sides_are_not_the_same_text(tmp_path: Path) -> None:
    archive = tar(tmp_path / "d.tgz", {"d/t.en": b"a\n", "d/t.fr": b"b\n"})
    link = tmp_path / "link.tgz"
    link.symlink_to(archive)
    for archives, member in (((archive, archive), "./d/t.en"), ((archive, link), "d/t.en")):
        refused(tmp_path, archives, ("d/t.en", member), said="source and target are the same text")
    table = tmp_path / "pairs.tsv"
    table.write_text("a\tb\n")
    refused(tmp_path, (table, table), (":1", ""), said="source and target are the same text")
    assert extracted(tmp_path, (table, table), (":1", ":2")) == (["a"], ["b"])
    assert extracted(tmp_path, (archive, link), ("d/t.en", "./d/t.fr")) == (["a"], ["b"])


def test_segments_without_a_partner_are_refused(tmp_path: Path) -> None:
    refused(tmp_path, *documents(tmp_path, "ab", "ac"), said="segment 1 of document 'b' is on one side alone")
    refused(tmp_path, *documents(tmp_path, "aab", "abb"), said="name a segment twice, in another order")
    assert extracted(tmp_path, *documents(tmp_path, "aab", "aab"))[0][:4] == ["one a", "two a"] * 2
