"""The registry: what it reads, and each way in which it can be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.corpora.registry import COLUMNS, archive_path, read_registry
from nmt.files import UserError

DATA = Path(__file__).parents[2] / "data"
MD5 = "md5:" + "0" * 32
SHA256 = "sha256:" + "a" * 64
ROW = {
    "name": "toy",
    "role": "train",
    "source_address": "https://host/a/toy.tgz",
    "target_address": "https://host/a/toy.tgz",
    "source_member": "toy.en",
    "target_member": "toy.fr",
    "hash": MD5,
    "pairs": "12",
}


def written(tmp_path: Path, *rows: dict[str, str], columns: tuple[str, ...] = COLUMNS) -> Path:
    path = tmp_path / "corpora.tsv"
    lines = ["\t".join(columns), *("\t".join(row[column] for column in columns) for row in rows)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_reads_a_row(tmp_path: Path) -> None:
    corpus = read_registry(written(tmp_path, ROW))["toy"]
    assert (corpus.role, corpus.pairs) == ("train", 12)
    assert corpus.archives == ("a/toy.tgz", "a/toy.tgz")
    assert corpus.members == ("toy.en", "toy.fr")
    assert corpus.hashes == (MD5, MD5)


def test_empty_fields_and_two_addresses(tmp_path: Path) -> None:
    two = ROW | {"source_address": "x/a.en.xz", "target_address": "x/a.fr.xz", "source_member": ""}
    two |= {"target_member": "", "pairs": "", "hash": ""}
    hashed = two | {"name": "other", "hash": f"{MD5},{SHA256}"}
    corpora = read_registry(written(tmp_path, two, hashed))
    assert corpora["toy"].hashes == ("", "")
    assert corpora["toy"].pairs is None
    assert corpora["toy"].members == ("", "")
    assert corpora["other"].hashes == (MD5, SHA256)


def test_columns_in_any_order_comments_crlf_and_byte_order_mark(tmp_path: Path) -> None:
    path = written(tmp_path, ROW, columns=COLUMNS[::-1])
    path.write_bytes(b"\xef\xbb\xbf# a comment\r\n\r\n" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_registry(path)["toy"].pairs == 12


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "a b"}, "name"),
        ({"name": "../x"}, "name"),
        ({"role": "training"}, "role 'training' must be one of"),
        ({"pairs": "many"}, "pairs 'many'"),
        ({"pairs": "0"}, "pairs '0'"),
        ({"pairs": "-3"}, "pairs '-3'"),
        ({"pairs": "²"}, "pairs"),
        ({"hash": "md5:123"}, "hash 'md5:123'"),
        ({"hash": "0" * 32}, "hash"),
        ({"hash": f"{MD5},{MD5},{MD5}"}, "one hash for each address"),
        ({"source_address": ""}, "address ''"),
        ({"source_address": "https://host"}, "address 'https://host'"),
        ({"source_address": "../up.tgz"}, "address '../up.tgz'"),
        ({"target_member": "toy.en"}, "same file"),
        ({"target_address": "https://host/b.tgz"}, "one hash for each address"),
    ],
)
def test_wrong_field(tmp_path: Path, change: dict[str, str], said: str) -> None:
    with pytest.raises(UserError, match="line 2") as caught:
        read_registry(written(tmp_path, ROW | change))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_name_twice(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"line 3: the name 'toy' is there twice"):
        read_registry(written(tmp_path, ROW, ROW))


def test_one_archive_with_two_hashes(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="another hash"):
        read_registry(written(tmp_path, ROW, ROW | {"name": "b", "hash": SHA256}))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ((*COLUMNS[:-1], "pair"), "unknown column 'pair'; did you mean 'pairs'"),
        (COLUMNS[:-1], "missing column pairs"),
        ((*COLUMNS, "name"), "twice"),
    ],
)
def test_wrong_header(tmp_path: Path, columns: tuple[str, ...], said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_registry(written(tmp_path, columns=columns))


def test_fields_missing_from_a_row(tmp_path: Path) -> None:
    path = written(tmp_path, ROW)
    path.write_text(path.read_text() + "short\ttrain\n")
    with pytest.raises(UserError, match="line 3: 2 fields where the header has 8"):
        read_registry(path)


def test_empty_or_absent_file(tmp_path: Path) -> None:
    (tmp_path / "empty.tsv").write_text("")
    with pytest.raises(UserError, match="empty"):
        read_registry(tmp_path / "empty.tsv")
    with pytest.raises(UserError, match="no such file"):
        read_registry(tmp_path / "absent.tsv")


def test_archive_path() -> None:
    assert archive_path("https://www.statmt.org/wmt13/test.tgz") == "wmt13/test.tgz"
    assert archive_path("https://host/a%20b/c.xz?version=1") == "a b/c.xz"
    assert archive_path("en-fr/news.en.xz") == "en-fr/news.en.xz"
    for wrong in ("/etc/passwd", "a/../../b", "https://host/%2e%2e/b", "https://host/folder/", ""):
        with pytest.raises(UserError):
            archive_path(wrong)


def test_the_committed_registries_are_readable() -> None:
    paper = read_registry(DATA / "corpora.tsv")
    assert [corpus.role for corpus in paper.values()].count("train") == 5
    assert paper["newstest2014"].archives[0] == "wmt14/test-full.tgz"
    assert paper["newstest2014"].pairs == 3003
    open_corpora = read_registry(DATA / "open.tsv")
    assert {"train", "in_domain", "development", "test"} == {corpus.role for corpus in open_corpora.values()}
    assert all(corpus.hashes[0].startswith("sha256:") for corpus in open_corpora.values())
