"""A lock is held by one open file, and by none where a file system has no locks."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from nmt.system.locks import acquire


def test_one_open_file_has_the_lock_until_it_is_closed(tmp_path: Path) -> None:
    with open(tmp_path / "lock", "ab") as other:
        with open(tmp_path / "lock", "ab") as one:
            assert [acquire(one, wait=False), acquire(other, wait=False)] == [True, False]
        assert acquire(other)


def test_a_file_system_without_locks_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Lustre, by default."""

    def flock(file: object, operation: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", flock)
    with open(tmp_path / "lock", "ab") as one, open(tmp_path / "lock", "ab") as other:
        assert [acquire(one, wait=False), acquire(other, wait=False), acquire(other)] == [True, True, True]
