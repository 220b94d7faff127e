"""Verification: fetched archives are checked against the registry and the lock."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.corpora.lock import Fingerprint, record
from nmt.corpora.registry import COLUMNS

CONTENT = b"an archive\n" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
MD5 = hashlib.md5(CONTENT).hexdigest()
KEPT = {"pinned/x": {"sha256": SHA256}, "locked/x": {}, "published/x": {"published": f"md5:{MD5}", "bytes": "3"}}


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """The command to verify three archives: pinned by the registry, pinned by the lock, with a published hash."""
    rows = [dict(zip(COLUMNS, COLUMNS, strict=True))]
    for path, facts in KEPT.items():
        address = dict.fromkeys(("source_address", "target_address"), f"https://host/{path}")
        row = {"name": path.replace("/", "."), "role": "train", "source_member": "a", "target_member": "b"}
        rows.append(dict.fromkeys(COLUMNS, "") | address | row | facts)
        (tmp_path / "archives" / path).parent.mkdir(parents=True)
        (tmp_path / "archives" / path).write_bytes(CONTENT)
    registry = tmp_path / "corpora.tsv"
    registry.write_text("".join("\t".join(row.values()) + "\n" for row in rows))
    lock = tmp_path / "corpora.lock.tsv"
    record(lock, "locked/x", Fingerprint(len(CONTENT), SHA256))
    return ["verify", "--registry", str(registry), "--lock", str(lock), "--archives", str(tmp_path / "archives")]


def test_all_as_fetched(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.splitlines() == [
        "pinned/x: whole, 11000 bytes",
        "locked/x: whole, 11000 bytes",
        "published/x: no hash is known, 11000 bytes, but expected 3 bytes as published, got 11000",
    ]


@pytest.mark.parametrize("path", ["pinned/x", "locked/x"])
@pytest.mark.parametrize("change", [CONTENT[:-1], CONTENT[:-2] + b"?\n", b""])
def test_what_has_changed_is_named(
    words: list[str], tmp_path: Path, path: str, change: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "archives" / path).write_bytes(change)
    assert main(words) == 1
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert f"1 of 3 archives are not what was fetched: {path};" in said.err
    assert f"{path}: DIFFERS, expected " in said.out
    assert "whole" in said.out


def test_what_is_not_there_is_said(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in KEPT:
        (tmp_path / "archives" / path).unlink()
    assert main(words) == 0
    assert capsys.readouterr().out == "".join(f"{path}: not fetched\n" for path in KEPT)


def test_without_a_lock_what_the_registry_pins_is_checked(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words[words.index("--lock") + 1] = ""
    assert main(words) == 0
    assert "locked/x: no hash is known" in capsys.readouterr().out
    (tmp_path / "archives" / "pinned/x").write_bytes(b"")
    assert main(words) == 1
