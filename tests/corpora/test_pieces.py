"""Pieces of SentencePiece: any text comes back from them, and what is damaged is one line."""

from __future__ import annotations

import unicodedata
from argparse import Namespace
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.__main__ import main
from nmt.corpora.learn_pieces import learn
from nmt.corpora.pieces import UNREADABLE, Pieces, read_subwords
from nmt.corpora.shortlist import Shortlist, read_shortlists
from nmt.corpora.subwords import Codes
from nmt.system.errors import UserError
from tests.corpora.languages import SENTENCES

TEXT = ["the house of the old man", "a house is a house", "the CHUNK and the CHUNKS", "ไทย is a language"] * 20


@pytest.fixture(scope="module")
def pieces() -> Pieces:
    return learn(TEXT, 400)


@given(st.lists(st.text(min_size=1).map(lambda word: "".join(word.split())).filter(lambda w: w and "▁" not in w)))
def test_any_text_comes_back_and_has_no_unknown_piece(pieces: Pieces, words: list[str]) -> None:
    symbols = pieces.split(words)
    assert pieces.join(symbols) == words
    assert {*symbols} <= {*pieces.symbols}
    assert Counter(pieces.owners(symbols)).keys() == {*range(len(words))}


def test_sentences_of_thirty_languages_come_back(pieces: Pieces) -> None:
    assert len(SENTENCES) >= 30
    for line in SENTENCES.values():
        words = unicodedata.normalize("NFC", line).split()
        assert pieces.join(pieces.split(words)) == words


@pytest.mark.parametrize("words", [TEXT[0].split(), ["the▁", "house"], ["▁", "▁▁x▁", "a"]])
def test_words_are_split_each_for_itself(pieces: Pieces, words: list[str]) -> None:
    """Alignments count on it, also of words with the sign of a space."""
    assert pieces.split(words) == [symbol for word in words for symbol in pieces.split([word])]


@pytest.mark.parametrize(
    ("symbols", "words", "owners"),
    [
        (["▁a", "b", "▁c"], ["ab", "c"], [0, 0, 1]),
        (["a", "▁", "b"], ["a", "b"], [0, 1, 1]),  # as a model may begin
        (["▁a", "▁"], ["a"], [0, 0]),
        (["▁", "▁a"], ["a"], [0, 0]),
        (["▁"], [UNREADABLE], [0]),
        (["<0xC3>", "<0xA9>", "▁x"], ["é", "x"], [0, 0, 1]),
        (["▁a", "<0xFF>"], [f"a{UNREADABLE}"], [0, 0]),
        (["▁a", "<0x0A>", "b", "<0xC2>", "<0xA0>"], ["ab"], [0] * 5),  # no white space within a word
        ([], [], []),
    ],
)
def test_what_a_model_writes_becomes_words(
    pieces: Pieces, symbols: list[str], words: list[str], owners: list[int]
) -> None:
    assert pieces.join(symbols) == words
    assert pieces.owners(symbols) == owners


def test_all_pieces_are_symbols_whatever_the_text_has(pieces: Pieces, tmp_path: Path) -> None:
    pieces.write(tmp_path / "codes")
    (tmp_path / "text").write_text(" ".join(pieces.split(["house", "CHUNK"])) + "\n", encoding="utf-8")
    words = ["--input", tmp_path / "text", "--pieces", tmp_path / "codes", "--output", tmp_path / "shortlist"]
    assert main(["shortlist", *map(str, words)]) == 0
    shortlist = Shortlist.read(tmp_path / "shortlist", tmp_path / "codes")
    assert {*shortlist.symbols[2:]} == {*pieces.symbols}
    assert shortlist.knows(["ไทย", "ሰላም", "UNK", "<unk>", "<eos>"])
    assert shortlist.codes == pieces


def test_codes_and_pieces_are_told_apart(pieces: Pieces, tmp_path: Path) -> None:
    pieces.write(tmp_path / "pieces")
    (tmp_path / "codes").write_text("#version: 0.2\nl o\n")
    assert read_subwords(tmp_path / "pieces") == pieces
    assert isinstance(read_subwords(tmp_path / "codes"), Codes)


@pytest.mark.parametrize("content", [b"", b"l o\n", b"\0" * 100, b"\xff" * 100])
def test_what_is_neither(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "en.codes").write_bytes(content)
    with pytest.raises(UserError, match=r"en.codes: no codes of BPE and no model of SentencePiece"):
        read_subwords(tmp_path / "en.codes")


def test_damaged_pieces_are_a_line_or_other_pieces(pieces: Pieces, tmp_path: Path) -> None:
    """Every eleventh bit is struck; what still loads is another model, which the digests of a model's folder notice."""
    refused = 0
    for place in range(0, 8 * len(pieces.model), 8 * 11 + 1):
        damaged = bytearray(pieces.model)
        damaged[place // 8] ^= 1 << place % 8
        (tmp_path / "en.codes").write_bytes(damaged)
        try:
            read_subwords(tmp_path / "en.codes", pieces.symbols).split(["the", "house"])
        except UserError:
            refused += 1
    assert refused > 10


def test_text_that_is_not_cut_by_these_pieces(
    pieces: Pieces, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pieces.write(tmp_path / "codes")
    (tmp_path / "text").write_text("the house\n")
    words = ["--input", tmp_path / "text", "--pieces", tmp_path / "codes", "--output", tmp_path / "shortlist"]
    assert main(["shortlist", *map(str, words)]) == 1
    assert f"house is no piece of {tmp_path / 'codes'}; segment the text" in capsys.readouterr().err


def test_a_vocabulary_of_pieces_without_them_is_refused(pieces: Pieces, tmp_path: Path) -> None:
    """In a language without spaces few pieces begin with the sign of one."""
    symbols = ["<eos>", "<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *(chr(0x4E00 + n) for n in range(900))]
    Shortlist(tuple(symbols), (1,) * len(symbols)).write(tmp_path / "zh.tsv")
    arguments = Namespace(shortlists=[tmp_path / "zh.tsv"] * 2, codes=[])
    with pytest.raises(UserError, match=r"zh.tsv: a vocabulary of subwords; name their codes"):
        read_shortlists(arguments)


def test_pieces_of_another_vocabulary(pieces: Pieces, tmp_path: Path) -> None:
    pieces.write(tmp_path / "en.codes")
    with pytest.raises(UserError, match=r"en.codes: not the pieces of this vocabulary"):
        read_subwords(tmp_path / "en.codes", [*pieces.symbols[1:], "▁mine"])
