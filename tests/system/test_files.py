"""Files and folders are complete or absent."""

from __future__ import annotations

import errno
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.system.checksums import recorded
from nmt.system.errors import UserError
from nmt.system.files import atomic_folder, check_outputs, check_room, nearest_folder, partial_name, sync_folder
from nmt.system.text import read_lines, write_lines
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


@pytest.mark.parametrize("suffix", ["partial", "former"])
@pytest.mark.parametrize("make", [Path.mkdir, Path.touch])
def test_two_processes_may_find_the_same_leftover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, make: Callable[[Path], None]
) -> None:
    """The other process is quicker; torchrun starts several at once."""
    leftover = tmp_path / f".folder.1.{suffix}"
    make(leftover)

    def is_removed_meanwhile(process: int) -> bool:
        leftover.rename(tmp_path / "elsewhere")
        return False

    monkeypatch.setattr("nmt.system.files._lives", is_removed_meanwhile)
    assert partial_name(tmp_path / "folder").name == f".folder.{os.getpid()}.partial"
    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere"]


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


def test_the_folder_of_a_file_is_not_that_of_a_file_to_which_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/file").symlink_to("/proc/version")
    (tmp_path / "linked").symlink_to("own")
    for name in ("own/file", "own/missing/file", "linked/file"):
        assert nearest_folder(tmp_path / name) == tmp_path / "own"


def test_a_folder_without_room_is_named(small_disk: SmallDisk) -> None:
    check_room(small_disk.folder)
    small_disk.limit(5000)
    with pytest.raises(UserError, match=rf"^{small_disk.folder}: cannot be written \("):
        check_room(small_disk.folder)
    small_disk.free()
    with pytest.raises(UserError, match=r"^/proc: cannot be written \(No such file or directory\)"):
        check_room(Path("/proc"))
