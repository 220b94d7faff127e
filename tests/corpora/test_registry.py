"""Reading the registry, and every mistake that it may contain."""

from __future__ import annotations

import time
import unicodedata
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.corpora.registry import COLUMNS, REQUIRED, Archive, Corpus, archive_path, read_archives, read_registry
from nmt.system.errors import UserError

DATA = Path(__file__).parents[2] / "data"
MD5 = "md5:" + "0" * 32
SHA256 = "a" * 64
ROW = {
    "name": "toy",
    "role": "train",
    "source_address": "https://host/a/toy.tgz",
    "target_address": "https://host/a/toy.tgz",
    "mirrors": "https://other/toy.tgz http://third/toy.tgz?download=1",
    "bytes": "1234",
    "sha256": SHA256,
    "published": MD5,
    "source_member": "toy.en",
    "target_member": "toy.fr",
    "pairs": "12",
    "words": "345",
}
TWO = ROW | {"source_address": "x/a.en.xz", "target_address": "x/a.fr.xz", "source_member": "", "target_member": ""}


ELSEWHERE = dict.fromkeys(("mirrors", "bytes", "sha256", "published"), "") | {"target_address": "http://b/a/toy.tgz"}
BARE = TWO | dict.fromkeys(("mirrors", "bytes", "sha256", "published"), "")


def written(tmp_path: Path, *rows: dict[str, str], columns: tuple[str, ...] = COLUMNS) -> Path:
    path = tmp_path / "corpora.tsv"
    lines = ["\t".join(columns), *("\t".join(row[column] for column in columns) for row in rows)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_reads_a_row(tmp_path: Path) -> None:
    corpus = read_registry(written(tmp_path, ROW))["toy"]
    assert (corpus.role, corpus.pairs, corpus.words) == ("train", 12, 345)
    mirrors = ("https://other/toy.tgz", "http://third/toy.tgz?download=1")
    archive = Archive("https://host/a/toy.tgz", mirrors, 1234, SHA256, MD5)
    assert corpus.archives == (archive, archive)
    assert corpus.members == ("toy.en", "toy.fr")
    assert read_archives(written(tmp_path, ROW)) == {"a/toy.tgz": archive}


def test_one_file_with_both_sides(tmp_path: Path) -> None:
    row = ROW | {"source_member": "titles.fi-en:2", "target_member": "titles.fi-en:1"}
    assert read_registry(written(tmp_path, row))["toy"].members == ("titles.fi-en:2", "titles.fi-en:1")


def test_empty_fields_and_two_addresses(tmp_path: Path) -> None:
    empty = TWO | dict.fromkeys(("mirrors", "bytes", "sha256", "published", "pairs", "words"), "")
    full = TWO | {"name": "other", "source_address": "y/a.xz", "target_address": "y/b.xz", "bytes": "1,2"}
    full |= {"mirrors": "https://m/a https://n/a,https://m/b", "sha256": f",{SHA256}", "published": f"{MD5},"}
    corpora = read_registry(written(tmp_path, empty, full))
    assert corpora["toy"].archives == (Archive("x/a.en.xz"), Archive("x/a.fr.xz"))
    assert (corpora["toy"].pairs, corpora["toy"].words, corpora["toy"].members) == (None, None, ("", ""))
    assert corpora["other"].archives == (
        Archive("y/a.xz", ("https://m/a", "https://n/a"), 1, "", MD5),
        Archive("y/b.xz", ("https://m/b",), 2, SHA256, ""),
    )


MONOLINGUAL = TWO | {"role": "monolingual", "source_address": "", "bytes": "7", "sha256": "", "published": MD5}


def test_a_monolingual_corpus_has_a_target_side_alone(tmp_path: Path) -> None:
    row = MONOLINGUAL | {"target_address": "https://host/news.fr.gz", "mirrors": "https://m/a https://n/a"}
    corpus = read_registry(written(tmp_path, row))["toy"]
    archive = Archive("https://host/news.fr.gz", ("https://m/a", "https://n/a"), 7, "", MD5)
    assert (corpus.role, corpus.archives, corpus.members, corpus.pairs) == ("monolingual", (archive,), ("",), 12)
    for change in ({"source_address": "x/a.en.xz"}, {"source_member": "a.en"}):
        with pytest.raises(UserError, match="line 2: a monolingual corpus has a target side alone"):
            read_registry(written(tmp_path, row | change))
    with pytest.raises(UserError, match=f"line 2: published '{MD5},': give one or none"):
        read_registry(written(tmp_path, row | {"published": f"{MD5},"}))


def test_three_columns_are_enough(tmp_path: Path) -> None:
    row = {"name": "toy", "source_address": "x/a.en", "target_address": "x/a.fr"}
    alone = {"name": "news", "source_address": "", "target_address": "x/b.fr"}
    corpora = read_registry(written(tmp_path, row, alone, columns=REQUIRED))
    assert corpora == {
        "toy": Corpus("toy", (Archive("x/a.en"), Archive("x/a.fr")), ("", ""), "", None, None),
        "news": Corpus("news", (Archive("x/b.fr"),), ("",), "", None, None),
    }
    assert [corpus.is_monolingual for corpus in corpora.values()] == [False, True]


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
        ({"pairs": "9" * 5000}, "pairs '999"),
        ({"words": "61 M"}, "words '61 M'"),
        ({"bytes": "1.5"}, "bytes '1.5'"),
        ({"bytes": "0"}, "bytes '0'"),
        ({"sha256": f"sha256:{SHA256}"}, "sha256 'sha256:"),
        ({"sha256": SHA256.upper()}, "sha256 'AAAA"),
        ({"published": "md5:123"}, "published 'md5:123'"),
        ({"published": "0" * 32}, "published '0000"),
        ({"published": f"{MD5},{MD5},{MD5}"}, "published 'md5:"),
        ({"mirrors": "other/toy.tgz"}, "mirrors 'other/toy.tgz'"),
        ({"mirrors": "https://other"}, "address 'https://other'"),
        ({"mirrors": "https://[other/toy.tgz"}, "address 'https://[other/toy.tgz'"),
        ({"source_address": ""}, "address ''"),
        ({"source_address": "https://host"}, "address 'https://host'"),
        ({"source_address": "../up.tgz"}, "address '../up.tgz'"),
        ({"target_member": "toy.en"}, "same file"),
        ({"target_member": "./toy.en"}, "same file"),
        ({"source_member": "toy:1", "target_member": "toy:1"}, "same file"),
        ({"target_member": "/toy.fr"}, "member '/toy.fr'"),
        ({"target_member": "a/../../toy.fr"}, "member 'a/../../toy.fr'"),
        ({"target_member": "<data>"}, "member '<data>'"),
        ({"source_address": "{archive}.en"}, "address '{archive}.en'"),
        ({"source_address": "https://host/a b.tgz"}, "in ASCII, without spaces (write other characters as %20)"),
        ({"source_address": "https://host:port/b.tgz"}, "address 'https://host:port/b.tgz': Port could not be"),
        ({"mirrors": "https://:9/b.tgz"}, "address 'https://:9/b.tgz': no host in it"),
        ({"mirrors": "https://me:secret@host/b.tgz"}, "names and passwords are not sent; fetch the file yourself"),
        ({"mirrors": "https://host:0/b.tgz"}, "address 'https://host:0/b.tgz': port 0 does not exist"),
        ({"mirrors": "https://m/a,https://n/a"}, "give one or none; separate several mirrors of a file by spaces"),
        ({"bytes": "1,2"}, "bytes '1,2': give one or none"),
        ({"source_address": "https://host/a%00%1b.tgz"}, "address 'https://host/a%00"),
        ({"source_address": "a" * 201}, "of parts of at most 200 bytes"),
        ({"target_member": "-toy.fr"}, "member '-toy.fr': write ./-toy.fr, because a minus sign begins an option"),
        ({"target_address": "https://host/b.tgz"}, "give one for each address"),
        (ELSEWHERE, "differ, but both files would be kept as a/toy.tgz"),
        (ELSEWHERE | {"target_member": "toy.en"}, "differ, but both files would be kept as a/toy.tgz"),
    ],
)
def test_wrong_field(tmp_path: Path, change: dict[str, str], said: str) -> None:
    with pytest.raises(UserError, match="line 2") as caught:
        read_registry(written(tmp_path, ROW | change))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "development",
        "index",
        "total",
        "tst.no_unk",
        "tst.beam1",
        "tst.symbols",
        "un.1-of-2",
        "table1.csv",
        "figure2.svg",
        "index.html",
        "table1.tsv",
        "a" * 101,
    ],
)
def test_the_workflows_own_names_are_reserved(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"line 2: name '.*' (is one that the workflow gives|.*, at most 100)"):
        read_registry(written(tmp_path, ROW | {"name": name}))


HOSTILE = [
    "$(touch x)",
    "`x`",
    "; x",
    "'",
    '"',
    "{x}",
    "<data>",
    "\\",
    "-",
    " ",
    "\x1b[2J",
    "\x00",
    "\u2028",
    "é",
    "٣",
    "%00",
    "..",
]


@pytest.mark.parametrize("column", COLUMNS)
@settings(max_examples=40, derandomize=True, deadline=None)
@given(before=st.booleans(), odd=st.lists(st.one_of(st.sampled_from(HOSTILE), st.text("a/:%\x85\u202e", max_size=3))))
def test_a_hostile_field_is_refused_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, column: str, before: bool, odd: list[str]
) -> None:
    field = "".join([*odd, BARE[column]] if before else [BARE[column], *odd])
    path = tmp_path_factory.getbasetemp() / "hostile.tsv"
    lines = ["\t".join(COLUMNS), "\t".join((BARE | {column: field}).values())]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    said = ""
    try:
        [corpus] = read_registry(path).values()
    except UserError as error:
        said = str(error)
    assert said.isprintable()
    if said:
        return
    assert corpus.name.replace("-", "").replace("_", "").replace(".", "").isalnum()
    for text in [*(archive.path for archive in corpus.archives), *corpus.members]:
        assert not {unicodedata.category(one) for one in text} & {"Cc", "Cs", "Zl", "Zp"}
        assert not set(text) & set("{}<>\\")
        assert not text.startswith(("-", "/"))
        assert ".." not in PurePosixPath(text).parts


@pytest.mark.parametrize(("one", "other"), [("a/b", "a/b/c"), ("a/b/c", "a/b")])
def test_an_archive_below_another(tmp_path: Path, one: str, other: str) -> None:
    addresses = [{"source_address": path, "target_address": path} for path in (f"https://host/{one}", other)]
    rows = [ROW | address | {"name": name} for address, name in zip(addresses, "ab", strict=True)]
    with pytest.raises(UserError, match=f"line 3: {other} and {one} cannot both be files; rename one of them"):
        read_registry(written(tmp_path, *rows))


def test_name_twice(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"line 3: the name 'toy' occurs twice"):
        read_registry(written(tmp_path, ROW, ROW))


def test_one_archive_described_twice(tmp_path: Path) -> None:
    assert len(read_registry(written(tmp_path, ROW, ROW | {"name": "b", "source_member": "b.en"}))) == 2
    for change in ({"published": ""}, {"bytes": "1"}, {"mirrors": ""}):
        with pytest.raises(UserError, match=r"line 3: a/toy\.tgz has another .* on an earlier line"):
            read_registry(written(tmp_path, ROW, ROW | {"name": "b"} | change))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ((*COLUMNS[:-1], "word"), "unknown column 'word'; did you mean 'words'"),
        (("name", "role", "source_address"), "missing column target_address"),
        ((*COLUMNS, "name"), "twice"),
    ],
)
def test_wrong_header(tmp_path: Path, columns: tuple[str, ...], said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_registry(written(tmp_path, columns=columns))


def test_fields_missing_from_a_row(tmp_path: Path) -> None:
    path = written(tmp_path, ROW)
    path.write_text(path.read_text() + "short\ttrain\n")
    with pytest.raises(UserError, match="line 3: 2 fields where the header has 12"):
        read_registry(path)


def test_empty_or_absent_file(tmp_path: Path) -> None:
    (tmp_path / "empty.tsv").write_text("")
    with pytest.raises(UserError, match="empty"):
        read_registry(tmp_path / "empty.tsv")
    with pytest.raises(UserError, match="no such file"):
        read_registry(tmp_path / "absent.tsv")


def test_archive_path() -> None:
    assert archive_path("https://www.statmt.org/wmt13/test.tgz") == "wmt13/test.tgz"
    assert archive_path("https://host/a%20b/c.xz") == "a b/c.xz"
    assert (
        archive_path("https://host/download.php?f=moses/en-fi.txt.zip&v=1") == "download.php?f=moses/en-fi.txt.zip&v=1"
    )
    assert archive_path("https://host/download.php#top") == "download.php"
    assert archive_path("en-fr/news.en.xz") == "en-fr/news.en.xz"
    for wrong in (
        "/etc/passwd",
        "a/../../b",
        "https://host/%2e%2e/b",
        "https://host/x?f=a/../b",
        "https://host/folder/",
        "",
    ):
        with pytest.raises(UserError):
            archive_path(wrong)


def test_the_papers_registry() -> None:
    paper = read_registry(DATA / "corpora.tsv")
    training = {name: corpus for name, corpus in paper.items() if corpus.role == "train"}
    words = {"europarl-v7": 61, "news-commentary-v9": 5.5, "un": 421, "commoncrawl": 90, "giga-fren": 780}  # millions
    assert {name: (corpus.words or 0) / 1e6 for name, corpus in training.items()} == words
    assert sum(corpus.pairs or 0 for corpus in training.values()) == 40_842_333
    assert [name for name, corpus in paper.items() if corpus.role == "monolingual"] == [
        f"news-crawl-{year}" for year in range(2007, 2014)
    ]
    for corpus in paper.values():
        if corpus.role == "monolingual":
            continue
        assert corpus.archives[0] == corpus.archives[1]
        assert corpus.archives[0].mirrors
        assert corpus.archives[0].published
        assert corpus.pairs
    assert sum(corpus.archives[0].bytes or 0 for corpus in training.values()) == 6_617_099_128
    assert paper["newstest2014"].archives[0].path == "wmt14/test-full.tgz"
    assert paper["newstest2014"].pairs == 3003


def test_the_other_registries() -> None:
    for name in ("open.tsv", "open-en-de.tsv", "open-en-fi.tsv"):
        open_corpora = read_registry(DATA / name)
        assert {"train", "development", "test"} <= {corpus.role for corpus in open_corpora.values()}
        assert all(archive.sha256 and archive.bytes for corpus in open_corpora.values() for archive in corpus.archives)
        assert all(corpus.pairs for corpus in open_corpora.values())


def test_the_second_papers_registries() -> None:
    first = {archive.path: archive for archive in read_archives(DATA / "corpora.tsv").values()}
    pairs = {"de": (4_535_522, 3000, 2169), "fi": (2_079_842, 1500, 1370)}
    for language, expected in pairs.items():
        corpora = list(read_registry(DATA / f"wmt15-en{language}.tsv").values())
        assert all(one.archives[0] == first.get(one.archives[0].path, one.archives[0]) for one in corpora)
        numbers = [[one.pairs or 0 for one in corpora if one.role == role] for role in ("train", "development", "test")]
        assert tuple(map(sum, numbers)) == expected
        for corpus in corpora:
            source, target = corpus.members
            assert "en" in source
            assert target.endswith((f".{language}", f".{language}.sgm", "titles.fi-en:1"))


def test_a_path_is_the_same_with_and_without_a_dot(tmp_path: Path) -> None:
    row = BARE | {"source_address": "./x/a.en.xz", "target_address": "x//a.fr.xz"}
    again = BARE | {"name": "again", "target_address": "x/./a.fr.xz"}
    corpora = read_registry(written(tmp_path, row, again))
    assert corpora["toy"].archives == corpora["again"].archives == (Archive("x/a.en.xz"), Archive("x/a.fr.xz"))


def test_a_member_has_one_form(tmp_path: Path) -> None:
    archives = dict.fromkeys(("source_address", "target_address"), "x.tgz")
    row = BARE | archives | {"source_member": "./a.en", "target_member": "./-a"}
    assert read_registry(written(tmp_path, row))["toy"].members == ("a.en", "./-a")


def test_three_thousand_corpora_are_read_in_seconds(tmp_path: Path) -> None:
    rows = [BARE | {"name": f"c{n}", "source_address": f"x/{n}.en", "target_address": f"x/{n}.fr"} for n in range(3000)]
    begun = time.process_time()
    assert len(read_registry(written(tmp_path, *rows))) == 3000
    assert time.process_time() - begun < 20
    last = BARE | {"name": "z", "source_address": "x/7.en/y", "target_address": "y/z"}
    with pytest.raises(UserError, match=r"line 3002: x/7\.en/y and x/7\.en cannot both be files"):
        read_registry(written(tmp_path, *rows, last))
