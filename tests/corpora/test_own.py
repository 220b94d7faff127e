"""The user's own files: which they are, where they are, and what is said of one that is missing."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from nmt.corpora import own as owning
from nmt.corpora.own import (
    check_files,
    check_mirror,
    check_outside,
    check_sides,
    check_uses,
    digest,
    file_and_member,
    mirror_folder,
    own_files,
    read_corpora,
    reading,
)
from nmt.corpora.registry import Archive
from nmt.settings.experiment import Experiment, load
from nmt.settings.sections import Languages
from nmt.system.checksums import sha256
from nmt.system.errors import UserError


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("address", "mirror", "path"),
    [
        ("x/a.en", "", "x/a.en"),
        ("x/a.en", "m", "m/x/a.en"),
        ("x/a.en", "~/m", "{home}/m/x/a.en"),
        ("x/a.en", "file:///m%20n", "/m n/x/a.en"),
        ("~/a.en", "", "{home}/a.en"),
        ("../a.en", "", "../a.en"),
        ("/x/a.en", "", "/x/a.en"),
        ("./-a.en", "", "./-a.en"),  # on a command line, a minus sign begins an option
        ("file:///x/a%20b", "", "/x/a b"),
        ("file:///x/a", "m", None),  # a mirror has it instead
        ("x/a.en", "https://host/m", None),
        ("https://host/a.en", "", None),
        ("https://host/a.en", "m", None),
    ],
)
def test_own_is_what_a_path_names(tmp_path: Path, address: str, mirror: str, path: str | None) -> None:
    expected = {} if path is None else {address: path.format(home=tmp_path / "home")}
    assert own_files([Archive(address)], mirror) == expected


@pytest.mark.parametrize(
    "known", [{"sha256": "a" * 64}, {"published": "md5:" + "0" * 32}, {"bytes": 7}, {"mirrors": ("https://host/a",)}]
)
def test_of_what_more_is_known_is_a_published_archive(known: dict[str, object]) -> None:
    assert own_files([Archive("a.en", **known)], "m") == {}  # type: ignore[arg-type]


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "laws.en").touch()
    check_files(["laws.en"])
    with pytest.raises(UserError, match=r"^lwas\.en: no such file; the nearest is laws\.en; correct its name"):
        check_files(["laws.en", "lwas.en"])
    with pytest.raises(UserError, match=r"^no/x\.en: no such file; correct its name"):
        check_files(["no/x.en"])
    (tmp_path / "de\u0301.en").touch()
    with pytest.raises(UserError, match=r"\('de\\u0301\.en', in another form of Unicode\); correct its name"):
        check_files(["d\u00e9.en"])


@pytest.mark.parametrize(("file", "part"), [("laws.7z", "a.en"), ("laws.tsv", "0"), ("laws.tsv", "10")])
def test_what_is_no_part_of_a_file_is_told_from_a_missing_file(tmp_path: Path, file: str, part: str) -> None:
    (tmp_path / file).touch()
    said = f"{file}:{part}: no such file, and {part} cannot be read from {file}: a column is"
    with pytest.raises(UserError, match=f"^{re.escape(said)}"):
        check_files([f"{file}:{part}"])


@pytest.mark.parametrize("target", ["nowhere", "laws.en"])
def test_a_link_that_leads_nowhere_is_named(tmp_path: Path, target: str) -> None:
    (tmp_path / "laws.en").symlink_to(target)
    with pytest.raises(UserError, match=r"laws\.en: a link that leads nowhere; mount its disk, or name another file"):
        check_files([str(tmp_path / "laws.en")])


def test_a_mirror_is_needed_as_long_as_an_archive_is_missing(tmp_path: Path) -> None:
    (tmp_path / "home/m").mkdir(parents=True)
    (tmp_path / "here").touch()
    for mirror in ("", "https://host", "~/m", (tmp_path / "home/m").as_uri()):
        check_mirror(mirror, ["missing"])
    assert mirror_folder("~/m") == tmp_path / "home/m"
    check_mirror("no/such", ["here"])
    for mirror in ("no/such", "~/no", "~nobody-here/x"):
        with pytest.raises(UserError, match=f"mirror: {mirror}: no such folder; set `mirror` in the config"):
            check_mirror(mirror, ["here", "missing"])


@pytest.mark.parametrize(
    "mirror", ["http://[::1/x", "http://[x]/", "http://a\u2100b/", "file://[x", "http://a/b c", "http://a:port/b"]
)
def test_a_mirror_that_is_no_url_is_a_line(mirror: str) -> None:
    with pytest.raises(UserError, match=rf"^{re.escape(mirror)}: .*; correct it, or `mirror` in the config$"):
        check_mirror(mirror, ["missing"])


def test_a_url_is_no_file_of_ones_own() -> None:
    with pytest.raises(UserError, match=r"^http://x/a\.en: a URL; fetch the file, or name it in a registry$"):
        check_files(["http://x/a.en"])


def test_what_is_there_and_is_no_file_is_said_to_be_that(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, said in (("texts", "^texts: a folder; name a file"), ("pipe", "^pipe: a pipe or a device; name a file")):
        with pytest.raises(UserError, match=said):
            check_files([name])


@pytest.mark.parametrize(
    ("entry", "file", "member"),
    [
        ("a.en", "a.en", ""),
        ("a.tsv:1", "a.tsv", ":1"),
        ("x/a:b.en", "x/a:b.en", ""),
        ("a.zip:b/c.en", "a.zip", "b/c.en"),
        ("a.tar.gz:b.tsv:2", "a.tar.gz", "b.tsv:2"),
        ("a.ZIP:b.zip:c", "a.ZIP", "b.zip:c"),
    ],
)
def test_a_member_follows_a_colon(entry: str, file: str, member: str) -> None:
    assert file_and_member(entry) == (file, member)


def experiment(results: str = "results/x", **files: object) -> Experiment:
    given = {"train": ["a.en", "a.fr"], "development": ["b.en", "b.fr"], "test": ["c.en", "c.fr"]} | files
    variants = {"one": {"updates": 1}}
    text = {"experiment": "x", "results": results, "languages": {"source": "en", "target": "fr"}, "variants": variants}
    return load({**text, "files": given, "select": {"rule": "all"}})


@pytest.mark.parametrize(
    ("scored", "use"),
    [("test", "train"), ("test", "development"), ("test", "in_domain"), ("development", "train")],
)
@pytest.mark.parametrize("pair", [["c.en", "d.fr"], ["d.en", "./c.fr"], ["link.en", "d.fr"]])
def test_what_is_scored_is_nothing_else(tmp_path: Path, scored: str, use: str, pair: list[str]) -> None:
    (tmp_path / "link.en").symlink_to("c.en")
    one = experiment(**{"test": ["e.en", "e.fr"], scored: ["c.en", "c.fr"], use: pair})
    corpora = read_corpora(one)
    own = own_files([archive for corpus in corpora.values() for archive in corpus.archives], "")
    with pytest.raises(UserError, match=f": text of both {scored} and {use}; leave it out of one of them"):
        check_uses(one, corpora, own)


def test_sets_may_be_of_one_file_if_they_are_other_members() -> None:
    one = experiment(development=["a.zip:dev.en", "a.zip:dev.fr"], test=["a.zip:test.en", "a.zip:test.fr"])
    corpora = read_corpora(one)
    check_uses(one, corpora, {"a.zip": "a.zip"})
    again = experiment(development=["a.tsv:1", "a.tsv:2"], test=["a.tsv:1", "a.tsv:2"])
    with pytest.raises(UserError, match=r"^a\.tsv:1: text of both"):
        check_uses(again, read_corpora(again), {})
    same = experiment(development=["a.zip:b.en", "a.zip:b.fr"], test=["a.zip:./b.en", "a.zip:./b.fr"])
    with pytest.raises(UserError, match=r"^a\.zip:b\.en: text of both"):
        check_uses(same, read_corpora(same), {})


def test_a_member_has_one_form() -> None:
    """A second form would make everything again. Without ./, a name that begins with a minus sign is an option."""
    corpora = read_corpora(experiment(test=["a.zip:./b.en", "a.zip:-b.fr"]))
    assert corpora["test"].members == ("b.en", "./-b.fr")


def test_what_is_read_is_not_what_the_run_writes(tmp_path: Path) -> None:
    for folder in ("data/x/tokenized", "results/x", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "link").symlink_to("data/x")
    one = experiment()
    check_outside(one, ["data/a.en", "data/xy/a.en", "../a.en"], str(tmp_path), ["wmt13/test.tgz"])
    for own in (
        "data/x/tokenized/train.en",
        "./data/x/a.en",
        "link/a.en",
        "results/x/a.en",
        str(tmp_path / "data/x/a"),
    ):
        with pytest.raises(UserError, match="which the run itself writes; move it elsewhere"):
            check_outside(one, ["a.en", own], "", [])
    for mirror in ("data/x", "data/x/archives", "link", (tmp_path / "results/x").as_uri()):
        with pytest.raises(UserError, match="which the run itself writes"):
            check_outside(one, [], mirror, [])
    with pytest.raises(UserError, match=r"data/x/archives/t\.tgz: in data/x, which the run itself writes"):
        check_outside(one, [], "data", ["a.tgz", "x/archives/t.tgz"])
    (tmp_path / "shortcut").symlink_to("data")
    for results in ("data/x", "data/x/figures", "data", "shortcut/x/figures"):
        with pytest.raises(UserError, match=f"results: {results} and data/x, which the run writes, must not lie in"):
            check_outside(experiment(results), [], "", [])


@pytest.mark.parametrize("file", ["results", "data", "results/x"])
def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).touch()
    with pytest.raises(UserError, match=f"^{file}: a file, where the run writes to a folder; move it"):
        check_outside(experiment(), [], "", [])


@pytest.mark.parametrize(
    ("name", "read"),
    [("a.en", ""), ("a/b.en.sgm", "segments"), ("A.SGML.gz", "segments"), ("a.tsv.xz", "tabs"), ("tsv", "")],
)
def test_some_names_say_how_a_file_is_read(name: str, read: str) -> None:
    assert reading(name) == read


def test_the_digest_of_a_file_follows_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is replaced by one of the same size and an older date; it is computed once, whatever the memory."""
    read: list[str] = []
    monkeypatch.setattr(owning, "sha256", lambda path: read.append(path) or sha256(path))

    def found() -> str:
        owning._memory.cache_clear()  # as in another process
        return digest("a.en")

    file = tmp_path / "a.en"
    file.write_bytes(b"one\n")
    assert [found(), found()] == [hashlib.sha256(b"one\n").hexdigest()] * 2
    assert read == ["a.en"]
    (tmp_path / "b.en").write_bytes(b"two\n")
    os.utime(tmp_path / "b.en", (1, 1))
    os.replace(tmp_path / "b.en", file)
    assert found() == hashlib.sha256(b"two\n").hexdigest()
    for damaged in ("", "[[", "[]", '{"a.en": [[4], 1]}', "[" * 100_000):
        owning.MEMORY.write_text(damaged)
        assert found() == hashlib.sha256(b"two\n").hexdigest()
    whole = owning.MEMORY.read_text()
    for place in range(0, len(whole), 5):
        owning.MEMORY.write_text(f"{whole[:place]}{'1' if whole[place] == '0' else '0'}{whole[place + 1 :]}")
        assert found() == hashlib.sha256(b"two\n").hexdigest()
        assert owning.MEMORY.read_text() == whole


@pytest.mark.parametrize(
    ("pair", "languages", "said"),
    [
        (["a.fr", "a.en"], ["en", "fr"], "a.fr: is in fr by its name; give en first in each pair"),
        (["a.en", "b.en.sgm.gz"], ["en", "fr"], "b.en.sgm.gz: is in en by its name"),
        (["a.en-de.tsv:2", "a.en-de.tsv:1"], ["eng", "deu"], "a.en-de.tsv:2: is in de by its name"),
        (["a.zip:b.en", "a.zip:b.fr"], ["fr", "en"], "a.zip:b.en: is in en by its name"),
        (["a.en-GB", "a.en-US"], ["en-US", "en-GB"], "a.en-GB: is in en-GB by its name"),
        (["a.fra", "a.EN"], ["en", "fr"], "a.fra: is in fra by its name"),
        (["a.fr-en.TSV:1", "a.fr-en.TSV:2"], ["en", "fr"], "a.fr-en.TSV:1: is in fr by its name"),
        (["a.en", "a.fr"], ["eng", "fra"], None),
        (["a.en", "b.en"], ["en-GB", "en-US"], None),
        (["titles.fi-en:2", "titles.fi-en:1"], ["en", "fi"], None),
        (["a.src", "a.ref"], ["en", "fr"], None),
        (["wiki.en-fr.tsv.gz:2", "wiki.en-fr.tsv.gz:3"], ["en", "fr"], None),
    ],
)
def test_a_file_in_the_language_of_the_other_side_is_refused(
    pair: list[str], languages: list[str], said: str | None
) -> None:
    with pytest.raises(UserError, match=f"^{re.escape(said)}") if said else nullcontext():
        check_sides(pair, Languages(*languages))
