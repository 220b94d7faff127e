"""The user's own files: which they are, where they are, and what is said of one that is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.corpora.own import check_files, check_mirror, mirror_folder, own_files
from nmt.corpora.registry import Archive
from nmt.system.files import UserError


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
