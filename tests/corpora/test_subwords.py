"""Codes of byte pair encoding: words become subwords and words again, and codes that do not fit are one line."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.corpora.shortlist import Shortlist, read_shortlists
from nmt.corpora.subwords import Codes
from nmt.system.errors import UserError

CODES = "#version: 0.2\nl o\nlo w</w>\nlo w\ne r</w>\n"
SYMBOLS = ["low@@", "er", "low", "w@@", "i@@", "d@@", "l@@", "o@@"]


@pytest.fixture
def codes(tmp_path: Path) -> Path:
    (tmp_path / "en.codes").write_text(CODES)
    return tmp_path / "en.codes"


def test_merges_are_made_in_their_order(codes: Path) -> None:
    assert Codes.read(codes).split(["low", "lower", "slow", "", "a"]) == ["low", "low@@", "er", "s@@", "low", "a"]


def test_a_subword_outside_the_vocabulary_is_cut_further(codes: Path) -> None:
    assert Codes.read(codes, ["l@@", "o@@", "w@@", "er"]).split(["lower"]) == ["l@@", "o@@", "w@@", "er"]


@given(st.lists(st.text("lower@ÄÉ\u2028", min_size=1).filter(lambda word: not word.endswith("@@"))))
def test_joining_is_the_inverse_of_splitting(words: list[str]) -> None:
    codes = Codes((("l", "o"), ("@", "@"), ("lo", "w</w>"), ("e", "r</w>")))
    symbols = codes.split(words)
    owners = codes.owners(symbols)
    assert codes.join(symbols) == words
    assert len({*owners}) == len(words)
    for number, word in enumerate(words):
        own = [symbol for symbol, owner in zip(symbols, owners, strict=True) if owner == number]
        assert codes.join(own) == [word]


def test_what_is_not_ended_ends_with_the_sentence(codes: Path) -> None:
    assert Codes.read(codes).join(["low@@", "er", "low@@"]) == ["lower", "low"]
    assert Codes.read(codes).owners(["low@@", "er", "low@@"]) == [0, 0, 1]


def test_words_that_end_in_the_mark_are_dropped_and_counted(codes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [["low", "a@@"], ["@@"], ["a@@b"]]
    assert list(Codes.read(codes).split_lines(lines, "text.en")) == [["low"], [], ["a@@", "@@@", "@@@", "b"]]
    assert "text.en: 2 words were dropped that end in @@" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no codes, because it does not begin with #version: 0.2"),
        ("l o\nlo w</w>\n", "no codes, because"),
        ("#version: 0.2\n", "no merges in it"),
        ("#version: 0.2\nl\n", "line 2 does not merge"),
        ("#version: 0.2\nl o\nlo w er\n", "line 3 does not merge"),
        ("#version: 0.2\nl o\nloo w\n", "line 3 does not merge"),
    ],
)
def test_damaged_codes(codes: Path, text: str, said: str) -> None:
    codes.write_text(text)
    with pytest.raises(UserError, match=f"en.codes: {said}"):
        Codes.read(codes)


def test_a_vocabulary_and_its_own_codes(codes: Path, tmp_path: Path) -> None:
    Shortlist(("<eos>", "<unk>", *SYMBOLS), (1,) * 10).write(tmp_path / "en.tsv")
    shortlist = Shortlist.read(tmp_path / "en.tsv", codes)
    assert shortlist.ids(shortlist.split(["lower", "low"])) == [2, 3, 4]
    assert shortlist.join(shortlist.words([2, 3, 4])) == ["lower", "low"]
    assert (shortlist.knows(["lower"]), shortlist.knows(["slow"])) == (True, False)


def test_codes_of_another_vocabulary(codes: Path, tmp_path: Path) -> None:
    Shortlist(("<eos>", "<unk>", *SYMBOLS, "lowest"), (1,) * 11).write(tmp_path / "en.tsv")
    with pytest.raises(UserError, match=r"en.codes: not the codes of this vocabulary, whose lowest they cannot make"):
        Shortlist.read(tmp_path / "en.tsv", codes)


def test_a_word_without_an_end_is_dropped_and_counted(codes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It took hours."""
    assert list(Codes.read(codes).split_lines([["low", "a" * 10**6]], "text.en")) == [["low"]]
    assert "text.en: 1 words were dropped" in capsys.readouterr().err
    assert len(Codes.read(codes).split(["a" * 1000])) == 1000


def test_codes_are_written_as_they_were_read(codes: Path, tmp_path: Path) -> None:
    Codes.read(codes).write(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == codes.read_bytes()


def test_subwords_without_their_codes_are_refused(codes: Path, tmp_path: Path) -> None:
    Shortlist(("<eos>", "<unk>", *SYMBOLS), (1,) * 10).write(tmp_path / "en.tsv")
    arguments = Namespace(shortlists=[tmp_path / "en.tsv"] * 2, codes=[])
    with pytest.raises(UserError, match=r"en.tsv: a vocabulary of subwords; name their codes, of both sides, with --c"):
        read_shortlists(arguments)
    arguments.codes = [codes] * 2
    assert len(read_shortlists(arguments)) == 2
