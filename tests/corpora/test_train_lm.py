"""nmt.corpora.train_lm: two models a side, over one vocabulary, from as many words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nmt.corpora.clean import Text, read_text
from nmt.corpora.train_lm import draw, vocabulary
from tests.conftest import SmallDisk
from tests.corpora.selection import Case, last_line, make_case, source_words

FILES = [f"{side}.{name}" for side in ("source", "target") for name in ("general.arpa", "in-domain.arpa", "words")]


@pytest.fixture
def case(tmp_path: Path, lmplz: Path) -> Case:
    return make_case(tmp_path, lmplz)


def text_of(case: Case) -> Text:
    parts = [part for _, part, _ in case.parts()]
    files = [(case.folder / f"{part}.en", case.folder / f"{part}.fr") for part in parts]
    surveys = [case.folder / f"{part}.survey.npy" for part in parts]
    return read_text([corpus for corpus, _, _ in case.parts()], files, surveys)


def test_both_models_of_a_side_know_the_same_words(case: Case) -> None:
    assert (case.survey(), case.estimate()) == (0, 0)
    assert sorted(path.name for path in (case.folder / "models").iterdir()) == FILES
    for side in ("source", "target"):
        words = (case.folder / f"models/{side}.words").read_text().split("\n")[:-1]
        assert "minister" in [word.removesuffix("e") for word in words]
        for kind in ("in-domain", "general"):
            arpa = (case.folder / f"models/{side}.{kind}.arpa").read_text()
            unigrams = re.findall(r"^-[\d.]+\t(\S+)(?:\t|$)", arpa.split("\\2-grams")[0], re.MULTILINE)
            assert set(unigrams) - {"<s>", "</s>", "<unk>", "<unknown>"} <= set(words)
        assert "ngram 4=" in arpa


def test_the_vocabulary_holds_words_seen_twice() -> None:
    assert vocabulary([b"a b  c", b"a b\n", b"<s> <s> <unknown> <unknown> x\0 x\0"]) == {b"a", b"b"}


def test_the_general_sample_has_as_many_words_as_asked(case: Case) -> None:
    case.corpora["acts"] += case.corpora["web"][:50]
    assert case.survey() == 0
    text = text_of(case)
    sample = draw(text, 300, seed=1)
    assert 300 <= source_words([(source.decode(), "") for source, _ in sample]) < 310
    assert sample != draw(text, 300, seed=2)
    every = [(s.encode(), t.encode()) for s, t in [*case.corpora["web"], *case.corpora["acts"][:200]]]
    assert draw(text, 10**6, seed=1) == every  # repetitions are not drawn


def test_shards_change_nothing(case: Case) -> None:
    assert (case.survey(), case.estimate()) == (0, 0)
    whole = [(case.folder / "models" / name).read_bytes() for name in FILES]
    case.shards = 3
    assert (case.survey(), case.estimate()) == (0, 0)
    assert [(case.folder / "models" / name).read_bytes() for name in FILES] == whole


def test_a_single_sentence_is_enough(case: Case) -> None:
    case.in_domain = [("Yes", "Oui")]
    case.corpora = {"web": [("No", "Non")]}
    assert (case.survey(), case.estimate(), case.rate()) == (0, 0, 0)


# ---- bad input


@pytest.mark.parametrize("in_domain", [[], [("", ""), ("one", " ")]])
def test_empty_in_domain_text(case: Case, in_domain: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]) -> None:
    case.in_domain = in_domain
    assert (case.survey(), case.estimate()) == (0, 1)
    assert re.search(r"news\.en, .*no in-domain text", last_line(capsys))


def test_unequal_in_domain_sides(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.in_domain.append(("one", "un\ndeux"))
    assert (case.survey(), case.estimate()) == (0, 1)
    assert re.search(r"news\.en has 301 lines, .*news\.fr has 302;", last_line(capsys))


def test_nothing_clean(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.corpora = {"web": [("held", "x"), ("", "")]}
    case.held_out = [("held", "y")]
    assert (case.survey(), case.estimate()) == (0, 1)
    assert "web: no clean pair" in last_line(capsys)


@pytest.mark.parametrize(("flag", "value"), [("order", "1"), ("order", "7"), ("seed", "-1")])
def test_settings_out_of_range(case: Case, flag: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (case.survey(), case.estimate(**{flag: value})) == (0, 1)
    assert f"{flag} {value}" in last_line(capsys)


def test_lmplz_that_fails_is_quoted(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.lmplz = case.folder / "lmplz"
    assert (case.survey(), case.estimate()) == (0, 1)
    assert "lmplz: cannot be run" in last_line(capsys)
    case.lmplz.write_text("#!/bin/sh\necho counting\necho out of memory >&2\nexit 3\n")
    case.lmplz.chmod(0o755)
    assert case.estimate() == 1
    assert "source.in-domain.arpa could not be estimated: out of memory" in last_line(capsys)
    assert [path.name for path in (case.folder / "models").iterdir()] == ["source.words"]
    case.lmplz.write_text("#!/bin/sh\necho x.cc:1: No space left on device\necho a thread ended early\nexit 3\n")
    assert case.estimate() == 1
    assert "could not be estimated: x.cc:1: No space left on device" in last_line(capsys)


@pytest.mark.parametrize("room", [4096, 40_000])
def test_a_full_disk_is_one_line_and_room_mends_it(
    case: Case, small_disk: SmallDisk, room: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert case.survey() == 0
    small_disk.limit(room)
    models = str(small_disk.folder / "models")
    assert case.estimate(output=models) == 1
    assert re.search("no space left|No space left|File too large", last_line(capsys))
    assert not [path for path in Path(models).iterdir() if path.name not in FILES]
    small_disk.free()
    assert case.estimate(output=models) == 0
