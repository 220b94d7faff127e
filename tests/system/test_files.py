"""Files are complete or absent, and lines end at newlines only."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import math
import os
import re
import socket
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.system.files import (
    UserError,
    atomic_folder,
    check_outputs,
    check_room,
    read_json,
    read_lines,
    recorded,
    regular,
    sha256,
    sync_folder,
    verify,
    write_json,
    write_lines,
    write_together,
)
from tests.conftest import SmallDisk


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


OWN = recorded("record", ("file",))


def write_folder(path: Path, text: str) -> None:
    with atomic_folder(path, "ours", OWN) as partial:
        (partial / "file").write_text(text)
        (partial / "record").write_text('{"digests": {}}')


def test_a_folder_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    """A link to it is kept, and what only looks like ours."""
    (tmp_path / "link").symlink_to("folder")
    foreign = tmp_path / ".folder.former"
    foreign.mkdir()
    for text in ("old", "new"):
        write_folder(tmp_path / "link", text)
    with pytest.raises(UserError, match="no more"), atomic_folder(tmp_path / "folder", "ours", OWN) as partial:
        write_lines(partial / "file", half())
    assert (tmp_path / "folder" / "file").read_text() == "new"
    assert set(tmp_path.iterdir()) == {tmp_path / "link", tmp_path / "folder", foreign}


@pytest.mark.parametrize("suffix", ["partial", "former"])
def test_a_killed_writer_may_have_had_our_process_number(suffix: str, tmp_path: Path) -> None:
    leftover = tmp_path / f".folder.{os.getpid()}.{suffix}"
    leftover.mkdir()
    for name in ("file", "record"):
        (leftover / name).write_text('{"digests": {}}')
    write_folder(tmp_path / "folder", "new")
    assert (tmp_path / "folder" / "file").read_text() == "new"
    assert set(tmp_path.iterdir()) == {tmp_path / "folder"}


@pytest.mark.parametrize("names", [["file"], ["record"], ["other"], ["file", "other"]])
def test_a_folder_of_somebody_else_is_refused(names: list[str], tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).write_text("[]")
    with pytest.raises(
        UserError, match=f"{tmp_path}: exists and is not ours, because it holds {names[0]}; move that, or name another"
    ):
        write_folder(tmp_path, "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_a_folder_moved_aside_by_a_killed_process_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    over = subprocess.Popen(["true"])
    over.wait()
    write_folder(tmp_path / "folder", "old")
    (tmp_path / "folder").rename(tmp_path / f".folder.{over.pid}.former")
    with pytest.raises(UserError), atomic_folder(tmp_path / "folder", "ours", OWN):
        raise UserError("no more")
    assert (tmp_path / "folder" / "file").read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_a_folder_that_cannot_be_moved_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for path in (".", "..", "/"):
        with pytest.raises(UserError, match="cannot be replaced as a whole; name a folder in it"):
            write_folder(Path(path), "new")


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


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.lists(st.sampled_from([".", "..", "/", "a", "file", "loop", " ", "-", "*", "é", "b" * 120]), max_size=5))
def test_an_output_is_refused_before_it_is_written_or_never(parts: list[str]) -> None:
    with TemporaryDirectory() as root:
        folder = Path(root, "1/2/3/4/5")  # so that no .. leaves the root
        folder.mkdir(parents=True)
        (folder / "file").touch()
        (folder / "loop").symlink_to("loop")
        path = Path(f"{folder}/{''.join(parts)}")
        before = sorted(Path(root).rglob("*"))
        try:
            check_outputs([path])
        except UserError:
            with pytest.raises(UserError, match=f"^{re.escape(str(path))}: "):
                write_lines(path, ["a"])
            return
        assert sorted(Path(root).rglob("*")) == before
        write_lines(path, ["a"])
        assert list(read_lines(path)) == ["a"]


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    check_outputs([tmp_path / "file", tmp_path / "other", "/dev/null", "/dev/null"])
    for other in ("file", "link", "./folder/../file"):
        with pytest.raises(UserError, match="named for two outputs"):
            check_outputs([tmp_path / "file", f"{tmp_path}/{other}"])
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


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


def test_a_folder_that_cannot_be_synced_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a folder that a virtual machine shares with its host."""

    def fsync(number: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fsync)
    code = errno.EINVAL
    sync_folder(tmp_path)
    code = errno.EIO
    with pytest.raises(OSError, match="Input/output error"):
        sync_folder(tmp_path)


def test_all_are_on_disk_before_the_last_is_renamed_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    replace, sync = os.replace, os.fsync
    monkeypatch.setattr(os, "replace", lambda one, other: (done.append(Path(other).name), replace(one, other)))
    monkeypatch.setattr(os, "fsync", lambda number: (done.append("sync"), sync(number)))
    write_together([(tmp_path / "scores", ["1"]), ("/dev/null", ["2"]), (tmp_path / "output", ["3"])])
    assert done[:3] == ["sync", "sync", "sync"]
    assert [one for one in done if one != "sync"] == ["scores", "output"]


def test_a_folder_without_room_is_named(small_disk: SmallDisk) -> None:
    check_room(small_disk.folder)
    small_disk.limit(5000)
    with pytest.raises(UserError, match=rf"^{small_disk.folder}: cannot be written \("):
        check_room(small_disk.folder)
    small_disk.free()
    with pytest.raises(UserError, match=r"^/proc: cannot be written \(No such file or directory\)"):
        check_room(Path("/proc"))


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


def test_an_error_is_one_line_of_printable_text() -> None:
    error = UserError("a\nb\x1b[2J\u202e\ud800é")
    assert str(error) == r"a b\x1b[2J\u202e\ud800é"
    assert str(UserError(f"{error}")) == str(error)


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


def test_files_are_compared_with_their_digests(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"abc")  # the digest is that of FIPS 180-2
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256(tmp_path / "one") == digest
    record = tmp_path / "record"
    verify(record, {"one": digest}, "make it again")
    with pytest.raises(UserError, match="one: damaged or replaced, it does not agree with record; make it again"):
        verify(record, {"one": "0" * 64}, "make it again")
    with pytest.raises(UserError, match="two: no such file; make it again"):
        verify(record, {"one": digest, "two": digest}, "make it again")
