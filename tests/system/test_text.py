"""Lines end at newlines only; text is written whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import os
import socket
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nmt.system.errors import UserError
from nmt.system.files import regular
from nmt.system.text import read_json, read_lines, write_json, write_lines, write_together


def half() -> Iterator[str]:
    """Lines that fail after the first."""
    yield "half"
    raise UserError("no more")


def test_files_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    write_lines(tmp_path / "first", ["old"])
    with pytest.raises(UserError):
        write_together([(tmp_path / "first", ["new"]), (tmp_path / "second", half())])
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"first": "old\n"}
    assert write_together([(tmp_path / "first", ["new"]), (tmp_path / "second", ["a", "b"])]) == 3
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"first": "new\n", "second": "a\nb\n"}


def test_of_files_on_two_disks_the_full_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^/dev/full: no space left; free some and repeat$"):
        write_together([(tmp_path / "scores", ["1"]), ("/dev/full", ["2"])])
    assert list(tmp_path.iterdir()) == []


def test_all_are_on_disk_before_the_last_is_renamed_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    replace, sync = os.replace, os.fsync
    monkeypatch.setattr(os, "replace", lambda one, other: (done.append(Path(other).name), replace(one, other)))
    monkeypatch.setattr(os, "fsync", lambda number: (done.append("sync"), sync(number)))
    write_together([(tmp_path / "scores", ["1"]), ("/dev/null", ["2"]), (tmp_path / "output", ["3"])])
    assert done[:3] == ["sync", "sync", "sync"]
    assert [one for one in done if one != "sync"] == ["scores", "output"]


def test_lines_end_at_newlines_only(tmp_path: Path) -> None:
    lines = ["a\u2028b", "c\x85d\x0ce", "", "f\rg"]
    write_lines(tmp_path / "text", lines)
    assert list(read_lines(tmp_path / "text")) == lines
    (tmp_path / "text").write_bytes(b"a\nlast without newline")
    assert list(read_lines(tmp_path / "text")) == ["a", "last without newline"]


@pytest.mark.parametrize(
    "content", [b"a b\r\nc\r\n", b"a b\r\nc", b"\xef\xbb\xbfa b\nc\n", b"\xef\xbb\xbfa b\r\nc\r\n"]
)
def test_ends_of_lines_and_a_mark_of_another_system_are_no_text(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "text").write_bytes(content)
    assert list(read_lines(tmp_path / "text")) == ["a b", "c"]


@pytest.mark.parametrize("end", [b"", b"\r", b"\n"])
def test_carriage_returns_alone_are_refused(tmp_path: Path, end: bytes) -> None:
    (tmp_path / "text").write_bytes(b"a\rb" + end)
    with pytest.raises(UserError, match="text: lines end in carriage returns; convert the file"):
        list(read_lines(tmp_path / "text"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-16"])
@pytest.mark.parametrize("text", ["a", "a\n", "a b\r\nc\r\n", "é\n", "Привет\n", "Привет мир\nкак\nдела"])
def test_utf_16_is_refused_with_and_without_a_mark(tmp_path: Path, encoding: str, text: str) -> None:
    (tmp_path / "text").write_bytes(text.encode(encoding))
    with pytest.raises(UserError, match=r"text: (\d lines begin or end in NULs|line 1 is not UTF-8.*); convert"):
        list(read_lines(tmp_path / "text"))


def test_a_stray_nul_is_kept(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"x\n\0 y\n\n")
    assert list(read_lines(tmp_path / "text")) == ["x", "\0 y", ""]


def test_a_line_that_is_not_utf8_is_named_by_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"good\nb\xe9d\n")
    with pytest.raises(UserError, match=r"text: line 2 is not UTF-8"):
        list(read_lines(tmp_path / "text"))


def zipped(text: bytes) -> bytes:
    """Its first line ends after four bytes: the version that is needed to unpack a stored file is a newline."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("text", text)
    assert packed.getvalue()[4] in (10, 20)
    return packed.getvalue()[:4] + b"\n" + packed.getvalue()[5:]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress, zipped])
def test_compressed_text_is_said_to_be_that(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "text").write_bytes(pack(b"good\n"))
    with pytest.raises(UserError, match="text: compressed; decompress it"):
        list(read_lines(tmp_path / "text"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="absent: no such file"):
        list(read_lines(tmp_path / "absent"))
    with pytest.raises(UserError, match="absent: no such file"):
        read_json(tmp_path / "absent")
    with pytest.raises(UserError, match="a folder; name a file"):
        list(read_lines(tmp_path))


def test_json_survives_a_file(tmp_path: Path) -> None:
    value = {"é": [1, 2.5, None]}
    write_json(tmp_path / "value.json", value)
    assert read_json(tmp_path / "value.json") == value
    (tmp_path / "value.json").write_text("{")
    with pytest.raises(UserError, match="not JSON"):
        read_json(tmp_path / "value.json")


def test_bytes_that_are_no_text_are_escaped_in_json(tmp_path: Path) -> None:
    value = {os.fsdecode(b"a\xff"): ["\ud800 é"]}
    write_json(tmp_path / "value.json", value)
    assert "a\\udcff" in (tmp_path / "value.json").read_text(encoding="utf-8")
    assert read_json(tmp_path / "value.json") == value


@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
def test_a_pipe_or_a_device_in_the_place_of_a_file_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    if kind == "pipe":
        os.mkfifo("value.json")
    elif kind == "device":
        Path("value.json").symlink_to("/dev/zero")
    else:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind("value.json")
    with pytest.raises(UserError, match=r"value\.json: a pipe or a device in place of a file; remove it"):
        read_json("value.json")
    with pytest.raises(UserError, match="a pipe or a device"):
        open("value.json", "a", opener=regular).close()


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_not_written(tmp_path: Path, odd: float) -> None:
    with pytest.raises(UserError, match=r"figures\.json: not written, because a number in it is not finite"):
        write_json(tmp_path / "figures.json", {"nll": [1.0, odd]})
    assert list(tmp_path.iterdir()) == []
