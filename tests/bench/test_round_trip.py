"""The benchmark of round trips: text that comes back, and what is said of files that hold none."""

from __future__ import annotations

import csv
import lzma
from pathlib import Path

import pytest

from bench.round_trip import main
from tests.corpora.sentences import write_files


def test_a_row_for_each_text_of_a_folder(tmp_path: Path) -> None:
    write_files(tmp_path, "de", "fi")
    texts = tmp_path / "texts"
    texts.mkdir()
    (tmp_path / "train.de").rename(texts / "a.de")
    (texts / "b.fi.xz").write_bytes(lzma.compress((tmp_path / "train.fi").read_bytes()))
    main([str(texts), "--output", str(tmp_path / "table.csv")])
    with (tmp_path / "table.csv").open() as file:
        rows = [
            (row["text"], row["language"], row["lines"], row["pieces_exact_percent"]) for row in csv.DictReader(file)
        ]
    assert rows == [("a", "de", "123", "100.0000"), ("b", "fi", "123", "100.0000")]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.fr", None, "none.fr: cannot be read \\(No such file or directory\\)"),
        ("one.fr", b"a\n", "one.fr: too short; two lines are needed"),
        ("empty.fr", b"", "empty.fr: too short"),
        ("many.zh", f"{''.join(map(chr, range(0x4E00, 0x5100)))}\n你\n".encode(), "many.zh: .* characters and bytes"),
        ("latin.fr", b"a\n\xe9t\xe9\n", "latin.fr: line 2 is not UTF-8"),
        ("plain.fr.xz", b"a\nb\n", "plain.fr.xz: cannot be read"),
        ("", None, "no files in it"),
    ],
)
def test_a_file_without_text_is_one_line(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    if content is not None:
        (texts / name).write_bytes(content)
    with pytest.raises(SystemExit, match=f"bench.round_trip: .*{said}"):
        main([str(texts / name), "--output", str(tmp_path / "table.csv")])
    assert not (tmp_path / "table.csv").exists()


def test_a_text_is_not_replaced_by_the_table(tmp_path: Path) -> None:
    write_files(tmp_path, "de")
    with pytest.raises(SystemExit, match=r"bench.round_trip: .*train\.de: is read too; name another output"):
        main([str(tmp_path / "train.de"), "--output", str(tmp_path / "train.de")])
    with pytest.raises(SystemExit, match=r"table\.csv: lies in .*, which is read; name another output"):
        main([str(tmp_path), "--output", str(tmp_path / "table.csv")])
