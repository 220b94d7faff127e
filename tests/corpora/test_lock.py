"""The lock is sorted, checked strictly, and complete although several processes write it."""

from __future__ import annotations

from multiprocessing import get_context
from pathlib import Path

import pytest

from nmt.corpora import lock
from nmt.corpora.lock import HEADER, Fingerprint, lock_path, read_lock, record
from nmt.system.errors import UserError

ONE, TWO = Fingerprint(1, "1" * 64), Fingerprint(2, "2" * 64)


def test_lies_beside_the_registry() -> None:
    assert lock_path("data/corpora.tsv") == Path("data/corpora.lock.tsv")


def test_holds_what_came_first_sorted_by_archive(tmp_path: Path) -> None:
    path = tmp_path / "new" / "corpora.lock.tsv"
    assert read_lock(path) == {}
    assert record(path, "b/y.tgz", TWO) == TWO
    assert record(path, "a/x.tgz", ONE) == ONE
    assert record(path, "b/y.tgz", ONE) == TWO
    assert path.read_text() == f"{HEADER}\na/x.tgz\t1\t{'1' * 64}\nb/y.tgz\t2\t{'2' * 64}\n"
    assert read_lock(path) == {"a/x.tgz": ONE, "b/y.tgz": TWO}
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_no_entry_is_lost_when_many_processes_write(tmp_path: Path) -> None:
    path = tmp_path / "lock.tsv"
    archives = [f"a/{number}.tgz" for number in range(100)]
    with get_context("spawn").Pool(4) as processes:
        processes.starmap(record, [(path, archive, ONE) for archive in archives], chunksize=1)
    assert list(read_lock(path)) == sorted(archives)


def test_a_lock_left_empty_by_a_kill_is_none(tmp_path: Path) -> None:
    (tmp_path / "lock.tsv").touch()
    assert read_lock(tmp_path / "lock.tsv") == {}
    record(tmp_path / "lock.tsv", "a", ONE)
    assert read_lock(tmp_path / "lock.tsv") == {"a": ONE}


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("a\t1\t" + "1" * 64, 1),
        (f"{HEADER}\na\t1\t{'1' * 63}", 2),
        (f"{HEADER}\na\tmany\t{'1' * 64}", 2),
        (f"{HEADER}\na 1 {'1' * 64}", 2),
        (f"{HEADER}\na\t{'1' * 5000}\t{'1' * 64}", 2),
        (f"{HEADER}\n\n", 2),
        (f"{HEADER}\na\t1\t{'1' * 64}\na\t1\t{'1' * 64}", 3),
    ],
)
def test_a_broken_lock_is_named_by_line(tmp_path: Path, content: str, line: int) -> None:
    (tmp_path / "lock.tsv").write_text(content)
    with pytest.raises(UserError, match=rf"lock\.tsv: line {line} must hold archive, bytes, sha256"):
        record(tmp_path / "lock.tsv", "b", ONE)
    assert (tmp_path / "lock.tsv").read_text() == content


def test_what_is_there_already_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The project, which has the locks of its registries, may be read-only."""
    path, own = tmp_path / "a.lock.tsv", Fingerprint(1, 64 * "a")
    record(path, "x", own)
    monkeypatch.setattr(lock, "_alone", pytest.fail)
    assert record(path, "x", Fingerprint(2, 64 * "b")) == own
