"""Files are complete or absent, and lines end at newlines only."""

from __future__ import annotations

import math
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nmt.system.files import UserError, read_json, read_lines, sha256, verify, write_json, write_lines


def half() -> Iterator[str]:
    """Lines that fail after the first."""
    yield "half"
    raise UserError("no more")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    assert write_lines(path, ["old"]) == 1
    with pytest.raises(UserError):
        write_lines(path, half())
    assert path.read_text() == "old\n"
    assert list(path.parent.iterdir()) == [path]


def test_leftovers_of_killed_writers_are_removed(tmp_path: Path) -> None:
    over = subprocess.Popen(["true"])
    over.wait()
    dead, living = (tmp_path / f".file.{process}.partial" for process in (over.pid, os.getppid()))
    others = [living, tmp_path / ".file.partial", tmp_path / f".file.gz.{over.pid}.partial"]
    for leftover in (dead, *others):
        leftover.write_text("half")
    write_lines(tmp_path / "file", ["whole"])
    assert set(tmp_path.iterdir()) == {tmp_path / "file", *others}


def test_links_and_pipes_are_kept(tmp_path: Path) -> None:
    """A run as root must not replace /dev/null by a file."""
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")
    for text in ("first", "second"):
        write_lines(tmp_path / "link", [text])
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "folder" / "file").read_text() == f"{text}\n"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_lines(tmp_path / "pipe", ["a", "b"])
    assert os.read(reader, 100) == b"a\nb\n"
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()
    with pytest.raises(UserError, match="folder: a folder; name a file"):
        write_lines(tmp_path / "folder", ["a"])


def test_lines_end_at_newlines_only(tmp_path: Path) -> None:
    lines = ["a\u2028b", "c\x85d\x0ce", "", "f\rg"]
    write_lines(tmp_path / "text", lines)
    assert list(read_lines(tmp_path / "text")) == lines
    (tmp_path / "text").write_bytes(b"a\nlast without newline")
    assert list(read_lines(tmp_path / "text")) == ["a", "last without newline"]


def test_a_line_that_is_not_utf8_is_named_by_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"good\nb\xe9d\n")
    with pytest.raises(UserError, match=r"text: line 2 is not UTF-8"):
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


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_not_written(tmp_path: Path, odd: float) -> None:
    with pytest.raises(UserError, match=r"figures\.json: not written, for a number in it is not finite"):
        write_json(tmp_path / "figures.json", {"nll": [1.0, odd]})
    assert list(tmp_path.iterdir()) == []


def test_files_are_compared_with_their_digests(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"abc")  # the digest is that of FIPS 180-2
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256(tmp_path / "one") == digest
    record = tmp_path / "record"
    verify(record, {"one": digest}, "make it again")
    with pytest.raises(UserError, match="one: damaged or exchanged, it does not agree with record; make it again"):
        verify(record, {"one": "0" * 64}, "make it again")
    with pytest.raises(UserError, match="two: no such file; make it again"):
        verify(record, {"one": digest, "two": digest}, "make it again")
