"""Tables as CSV files."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.system.files import UserError
from nmt.system.tables import read_csv, write_csv


def test_csv_keeps_every_word(tmp_path: Path) -> None:
    words = ['"', ",", "null", "NA", "\u2028", "\x85", "$", "a\rb", "\x00", "\ufeff", "two\nlines", ""]
    path = str(tmp_path / "words.csv")
    write_csv(path, ["word", "n"], [[word, 1] for word in words])
    assert read_csv(path, ["word", "n"]) == [[word, "1"] for word in words]
    with pytest.raises(UserError, match="columns must be"):
        read_csv(path, ["word"])
    (tmp_path / "words.csv").write_text("word,n\na\n", encoding="utf-8")
    with pytest.raises(UserError, match="row 2 has 1 cells"):
        read_csv(path, ["word", "n"])
