"""Tables as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.system.errors import UserError
from nmt.system.tables import read_csv, read_tsv, write_csv


def test_csv_keeps_every_word(tmp_path: Path) -> None:
    words = ['"', ",", "null", "NA", "\u2028", "\x85", "$", "a\rb", "\x00", "\ufeff", "two\nlines", "", "x" * 200_000]
    path = str(tmp_path / "words.csv")
    write_csv(path, ["word", "n"], [[word, 1] for word in words])
    assert read_csv(path, ["word", "n"]) == [[word, "1"] for word in words]
    with pytest.raises(UserError, match="columns must be"):
        read_csv(path, ["word"])
    (tmp_path / "words.csv").write_text("word,n\na\n", encoding="utf-8")
    with pytest.raises(UserError, match="row 2 has 1 cells"):
        read_csv(path, ["word", "n"])


def test_tab_separated_cells_are_kept_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text('word\tn\n"a, b\t\n', encoding="utf-8")
    assert read_tsv(path, ["word", "n"]) == [['"a, b', ""]]
    with pytest.raises(UserError, match="columns must be n; correct the file"):
        read_tsv(path, ["n"])
    path.write_text("word\tn\na\n", encoding="utf-8")
    with pytest.raises(UserError, match="row 2 has 1 cells, not 2; correct the file"):
        read_tsv(path, ["word", "n"])
