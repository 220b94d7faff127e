"""The step segment: every line of a text in subwords."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.__main__ import main


def test_every_line_is_segmented(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("low  lower\n\nslow x@@ \n", encoding="utf-8")
    (tmp_path / "codes").write_text("#version: 0.2\nl o\nlo w</w>\n")
    words = ["--input", tmp_path / "text", "--codes", tmp_path / "codes", "--output", tmp_path / "output"]
    assert main(["segment", *map(str, words)]) == 0
    assert (tmp_path / "output").read_bytes() == b"low lo@@ w@@ e@@ r\n\ns@@ low\n"
    assert "1 words were dropped that end in @@" in capsys.readouterr().err
