"""Files are compared with their recorded checksums."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nmt.system.checksums import sha256, unreplaced, verify
from nmt.system.errors import UserError


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


def test_files_that_are_replaced_while_they_are_read_are_refused(tmp_path: Path) -> None:
    folder, other = tmp_path / "folder", tmp_path / "other"
    for path, text in ((folder, "a"), (other, "b")):
        path.mkdir()
        (path / "one").write_text(text)
        (path / "record").write_text(sha256(path / "one"))
    with unreplaced(folder / "record"):
        assert (folder / "one").read_text() == "a"
    replaced = pytest.raises(UserError, match="folder: replaced while it was read; run the command again")
    with replaced, unreplaced(folder / "record"):
        shutil.rmtree(folder)
        other.rename(folder)
    with replaced, unreplaced(folder / "record"):
        shutil.rmtree(folder)
        (folder / "one").read_text()
    with pytest.raises(FileNotFoundError), unreplaced(folder / "record"):
        (folder / "one").read_text()
