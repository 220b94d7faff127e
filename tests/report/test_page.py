"""Words and weights as the pages' scripts read them."""

from __future__ import annotations

import re

import pytest

from nmt.report.page import reader, shades


@pytest.mark.parametrize(
    ("language", "words", "shown"),
    [
        ("fr", "l&apos; eau , « UNK » .", "l'\beau\b, « UNK »\b."),
        ("en", "the house &apos;s ( red ) roof &amp; &quot; a &quot; .", 'the house\b\'s (\bred\b) roof & "\ba\b"\b.'),
        ("zh", "你 好 。", "你\b好\b。"),
        ("en", "", ""),
    ],
)
def test_running_text_keeps_its_words(language: str, words: str, shown: str) -> None:
    assert reader(language)(words.split()) == shown


def test_words_keep_what_is_invisible_or_odd_in_them() -> None:
    read = reader("en")
    assert read(["well", "@-@", "known", ","]) == "well @-@ known\b,"
    assert read(["a\x00\b", "b\u2028c", "."]) == "a␀␈ b\u2028c\b."


def test_words_of_text_that_came_tokenized_stay_apart() -> None:
    assert reader(None)(["l'", "eau", "&amp;", "a\x00"]) == "l' eau &amp; a␀"


def test_pieces_say_where_spaces_are() -> None:
    read = reader(None, pieces=True)
    assert read(["▁บ้าน", "เก่า", "▁", "สวย"]) == "บ้าน\bเก่า \bสวย"
    assert read(["▁", "你", "好"]) == "\b你\b好"
    assert read([]) == ""
    assert read(["▁"]) == "▁"


def test_bytes_are_shown_as_their_characters() -> None:
    """In the first of them, so that each piece is still a word."""
    pieces = ["▁的", "<0xE9>", "<0xBE>", "<0x98>", "<0xF0>", "<0x9F>", "<0x99>", "<0x82>", "▁", "<0xE9>", "。"]
    shown = reader(None, pieces=True)(pieces)
    assert shown == "的\b龘🙂\b\b\b\b\b\b \b\ufffd\b。"
    assert len(re.split("[ \b]", shown)) == len(pieces)
    assert reader(None, pieces=True)(["<0x08>", "<0x0A>"]) == "␈\b"


def test_a_word_may_be_the_sign_of_a_space() -> None:
    assert reader(None)(["▁", "the", "cat", "▁"]) == "▁ the cat ▁"


def test_weights_are_two_hexadecimal_digits_each() -> None:
    assert shades([[0.0, 0.5, 1.0], [1.2, -0.1, 0.004]]) == ["0080ff", "ff0001"]
    assert shades([]) == []
