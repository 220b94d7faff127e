"""Tokenization: the words are those of sacremoses, whatever the line and however many processes."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from nmt.__main__ import main
from nmt.corpora import tokenize as tokenizing
from nmt.corpora.tokenize import Tokenizer, tokenize_file
from nmt.files import UserError

LANGUAGES = ("en", "fr", "de")
PLAIN = {language: MosesTokenizer(language) for language in LANGUAGES}
FAST = {language: Tokenizer(language) for language in LANGUAGES}

TEXT = (
    "the house l'homme aujourd'hui d'une qu'il don't it's James' 'tis 1990's O'Neill rock'n'roll "
    "A.M. e.g. i.e. etc. Mr. Mrs. Dr. No. no. Nos. Art. art. p. pp. vol. M. MM. St. U.S. U.S.A. "
    "J.-P. c.-à-d. av. chap. 1.5 3.14. 1,000 2,5 5,300,000 a,b ,x x, ,, ... .. .... a..b end... "
    "\"quoted\" «cité» “curly” ‘single’ `back` ``double'' (paren) [bracket] {brace} <b> </b> <seg "
    'id="1"> a&b &amp; a|b 50% $5 5€ £3 #tag @user me@mail.org http://www.statmt.org/wmt13/ C++ C# '
    "x/y and/or well-known pré-école -dash- -- — – soft\xadhyphen nb\xa0space thin\u2009space "
    "zero\u200bwidth line\u2028sep next\x85line form\x0cfeed tab\x09here nul\x01junk \x02 esc\x1bape "
    "éèêëàâîïôùûç Élan œuvre ß İ ǅ ªº ²³¹ ½ Ⅷ ٣ १२ हिन्दी 中文。 日本語、 한국어 русский. Ελλάδα· 😀 👩\u200d🚀 "
    "🇫🇷 𝒳 𝟗 � é DOTMULTI DOTDOTMULTI. MULTI THISISPROTECTED000 word. word.' '. .' .\" ''' '' ' . , "
    "; : ! ? ?! n° 1er 2e XXe Corp. Inc. Ltd. Jan. Fig. fig. sect. al. vs. X. x. 3. 3.b a.b. .a. "
    "..a. à. É. 中. -. '. )."
)
WORDS = TEXT.split(" ")


def lines(number: int, seed: int = 20140901) -> list[str]:
    """Lines of up to 40 of the words above, with all kinds of space between them or none."""
    rng = random.Random(seed)
    spaces = [" "] * 20 + ["", "", "", "  ", "\t", "\u00a0", " \x01 ", "\r"]
    made = []
    for _ in range(number):
        words = rng.choices(WORDS, k=rng.randrange(40))
        made.append("".join(word + rng.choice(spaces) for word in words))
    return made


def expected(language: str, line: str) -> str:
    return " ".join(PLAIN[language].tokenize(line))


@pytest.mark.parametrize("language", LANGUAGES)
def test_equals_sacremoses(language: str) -> None:
    for line in lines(2000):
        assert FAST[language].line(line) == expected(language, line), repr(line)


@pytest.mark.parametrize("language", LANGUAGES)
def test_equals_sacremoses_on_each_word_pair(language: str) -> None:
    rng = random.Random(1)
    for first in WORDS:
        for second in rng.sample(WORDS, 20):
            for line in (first, f"{first} {second}", first + second):
                assert FAST[language].line(line) == expected(language, line), repr(line)


CHARACTERS = st.one_of(
    st.sampled_from(" .,'\"-&|<>[]aZé9\u00a0\x01\t`@/DOTMULTI"), st.characters(exclude_categories=["Cs"])
)


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(LANGUAGES), st.text(CHARACTERS, max_size=60).map(lambda text: text.replace("\n", " ")))
def test_equals_sacremoses_on_mixed_characters(language: str, line: str) -> None:
    tokenized = FAST[language].line(line)
    assert tokenized == expected(language, line)
    assert "\n" not in tokenized
    assert "  " not in tokenized
    assert tokenized == tokenized.strip()


def test_the_forms_that_the_original_shows() -> None:
    assert FAST["fr"].line("Il s'est dit : « oui » [ou non].") == "Il s&apos; est dit : « oui » &#91; ou non &#93; ."
    assert FAST["en"].line('He said: "it\'s well-known".') == "He said : &quot; it &apos;s well-known &quot; ."
    assert FAST["en"].line("He said 'no.'") == "He said &apos; no . &apos;"


def test_odd_characters_do_not_split_lines(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes("a\u2028b\u0085c\fd\x0be\x1cf\rg\n\nlast".encode())
    tokenize_file("en", tmp_path / "in", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"a b c d e f g\n\nlast\n"


def test_a_line_of_a_hundred_thousand_words_takes_linear_time() -> None:
    sentence = "Mr. Smith's 1,000 dogs, e.g. the U.S. ones... aren't \"here\" now. "
    begun = time.perf_counter()
    words = FAST["en"].line(sentence * 10_000).split(" ")
    assert time.perf_counter() - begun < 5
    once = expected("en", sentence).split(" ")
    assert words[: len(once)] == once
    assert len(words) > 150_000


def test_processes_give_the_same_bytes_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizing, "BYTES_WORTH_A_POOL", 0)
    monkeypatch.setattr(tokenizing, "LINES_PER_SHARD", 50)
    made = [f"{number} {line}" for number, line in enumerate(lines(1234))]
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in made), encoding="utf-8", newline="\n")
    tokenize_file("fr", tmp_path / "in", tmp_path / "one", threads=1)
    tokenize_file("fr", tmp_path / "in", tmp_path / "two", threads=2)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "one").read_bytes().count(b"\n") == 1234
    assert (tmp_path / "one").read_text(encoding="utf-8").split("\n")[:1234] == [expected("fr", line) for line in made]


def test_an_error_in_parallel_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizing, "BYTES_WORTH_A_POOL", 0)
    monkeypatch.setattr(tokenizing, "LINES_PER_SHARD", 5)
    (tmp_path / "in").write_bytes(b"fine\n" * 100 + b"\xff\n")
    with pytest.raises(UserError, match="line 101 is not UTF-8"):
        tokenize_file("en", tmp_path / "in", tmp_path / "out" / "x", threads=2)
    assert not any((tmp_path / "out").iterdir())


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in").write_text("Oui, monsieur.\n")
    words = ["tokenize", "--input", str(tmp_path / "in"), "--output", str(tmp_path / "out")]
    assert main([*words, "--language", "fr", "--threads", "2"]) == 0
    assert (tmp_path / "out").read_text() == "Oui , monsieur .\n"
    assert "tokenize in: 1 lines" in capsys.readouterr().err
    assert main([*words, "--language", "xx"]) == 0
    assert "no abbreviations" in capsys.readouterr().err
    assert main([*words, "--language", "fr", "--threads", "0"]) == 1
    (tmp_path / "in").unlink()
    assert main([*words, "--language", "fr"]) == 1
    assert "no such file" in capsys.readouterr().err
