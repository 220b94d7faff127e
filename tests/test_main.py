"""The command line: exit codes, and one line for what a user can mend."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from nmt.__main__ import STEPS, main
from nmt.corpora import shortlist
from nmt.system.files import UserError
from nmt.system.stop import StoppedError


def fail(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    """Run a step that raises `error`."""

    def run(arguments: Any) -> None:
        raise error

    monkeypatch.setattr(shortlist, "run", run)
    return main(["shortlist", "--input", "a", "--size", "3", "--output", "b"])


@pytest.mark.parametrize("step", STEPS)
def test_every_step_explains_itself(step: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([step, "--help"])
    assert stop.value.code == 0
    said = capsys.readouterr().out
    assert f"python -m nmt {step}" in said
    assert len(said.split("\n\n")) > 2  # a description between usage and options


def test_an_unknown_step_lists_the_known(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["tranlate"])
    assert stop.value.code == 2
    assert "translate" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UserError("a: no such file"), 1, "nmt shortlist: a: no such file\n"),
        (StoppedError("stopped; repeat to go on"), 75, "nmt shortlist: stopped; repeat to go on\n"),
        (StoppedError(""), 75, ""),
        (KeyboardInterrupt(), 130, ""),
        (
            OSError(errno.ENOSPC, "No space left on device", "results/x"),
            1,
            "nmt shortlist: results/x: no space left; nothing was changed, free some and repeat\n",
        ),
    ],
)
def test_mistakes_get_one_line(
    error: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fail(monkeypatch, error) == code
    assert capsys.readouterr().err == said


def test_what_is_no_users_mistake_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        fail(monkeypatch, ZeroDivisionError())
    with pytest.raises(PermissionError):
        fail(monkeypatch, PermissionError(errno.EACCES, "Permission denied", "x"))


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """/dev/full refuses every byte, as a full disk does."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    (tmp_path / "text").write_text("a b\n")
    output = tmp_path / "shortlist"
    # The partial file's name is taken by a link to the full device.
    (tmp_path / f".shortlist.{os.getpid()}.partial").symlink_to(full)
    flags = ["--input", tmp_path / "text", "--size", "3", "--output", output]
    assert main(["shortlist", *map(str, flags)]) == 1
    assert "no space left" in capsys.readouterr().err
    assert not output.exists()
