"""Tokenization: the words are those of sacremoses for any line and any number of shards."""

from __future__ import annotations

import lzma
import random
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from nmt.__main__ import main
from nmt.corpora import tokenize as tokenizing
from nmt.corpora.tokenize import Shard, Tokenizer, tokenize_file
from nmt.system.errors import UserError
from nmt.system.text import read_lines
from tests.conftest import SmallDisk

REAL = Path(__file__).parents[2] / "data" / "open" / "archives" / "en-fr"  # as config/open.yaml fetches them

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
    """Lines of up to 40 of the words above, with or without white space of all kinds between them."""
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
    for line in lines(1000):
        assert FAST[language].line(line) == expected(language, line), repr(line)


@pytest.mark.parametrize(
    ("language", "line", "words"),
    [
        ("fi", "Talo on suuri, esim. valkoinen.", "Talo on suuri , esim. valkoinen ."),
        ("ar", "البيت كبير، والباب «صغير»؟", "البيت كبير ، والباب « صغير » ؟"),
    ],
)
def test_finnish_and_arabic(language: str, line: str, words: str) -> None:
    assert Tokenizer(language).line(line) == " ".join(MosesTokenizer(language).tokenize(line)) == words


@pytest.mark.parametrize("language", LANGUAGES)
def test_equals_sacremoses_on_each_word_pair(language: str) -> None:
    rng = random.Random(1)
    for first in WORDS:
        found = [first, f"A {first} 3"]
        for second in rng.sample(WORDS, 20):
            found += [f"{first} {second}", first + second, f"A {first} {second} b"]
        for line in found:
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


def test_the_cache_may_be_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizing, "CACHED_STRINGS", 5)
    tokenizer = Tokenizer("fr")
    for line in lines(200):
        assert tokenizer.line(line) == expected("fr", line), repr(line)
    assert len(tokenizer._pieces) <= 5
    assert tokenizer.line("a" * 1000 + ".") == "a" * 1000 + " ."
    assert max(map(len, tokenizer._pieces)) < 1000


def real_lines(language: str) -> Iterator[str]:
    """Every fourteenth line of the open corpora."""
    number = 0
    for path in sorted(REAL.glob(f"*.{language}.xz")):
        with lzma.open(path) as file:
            for line in file:
                number += 1
                if number % 14 == 0:
                    yield line.decode().removesuffix("\n")


@pytest.mark.skipif(not REAL.is_dir(), reason="the open corpora are not there")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_equals_sacremoses_on_a_hundred_thousand_real_lines(language: str) -> None:
    count = 0
    for line in islice(real_lines(language), 100_000):
        assert FAST[language].line(line) == expected(language, line), repr(line)
        count += 1
    assert count == 100_000


@pytest.mark.parametrize("end", ["\n", "", "no newline at the end"])
def test_the_shards_concatenated_are_the_whole(tmp_path: Path, end: str) -> None:
    made = [*lines(300), "", "", "long " * 5000, *lines(20, seed=2)]
    source = tmp_path / "in"
    source.write_bytes(("\n".join(made) + end).encode())
    tokenize_file("fr", source, tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    for number in (1, 2, 3):
        tokenize_file("fr", source, tmp_path / f"{number}", Shard(number, 3, 123))
    assert b"".join((tmp_path / f"{number}").read_bytes() for number in (1, 2, 3)) == whole
    for shards, length in [(2, 300), (2, 1), (5, 64), (30, 20), (400, 1)]:
        parts = [tokenizing.read_shard(source, Shard(number, shards, length)) for number in range(1, shards + 1)]
        assert [line for part in parts for line in part] == list(read_lines(source))


def test_a_shard_past_the_end_is_empty(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\nb\n")
    tokenize_file("fr", tmp_path / "in", tmp_path / "out", Shard(2, 3, 5))
    assert (tmp_path / "out").read_bytes() == b""


def test_an_error_fails_only_its_shard_and_is_located(tmp_path: Path) -> None:
    source = tmp_path / "giga.fr"
    source.write_bytes(b"fine\n" * 150 + b"\xe9t\xe9\n" + b"fine\n" * 150)
    for number in (1, 3):
        tokenize_file("fr", source, tmp_path / "out" / f"{number}", Shard(number, 3, 100))
    with pytest.raises(UserError, match=r"giga\.fr \(shard 2 of 3\): line 151 is not UTF-8"):
        tokenize_file("fr", source, tmp_path / "out" / "2", Shard(2, 3, 100))
    with pytest.raises(UserError, match=r"giga\.fr: line 151 is not UTF-8"):
        tokenize_file("fr", source, tmp_path / "out" / "whole")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["1", "3"]


def test_a_full_disk_is_one_line_and_no_text(
    tmp_path: Path, small_disk: SmallDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").write_text("Oui, monsieur.\n" * 20_000)
    words = ["tokenize", "--language", "fr", "--input", str(tmp_path / "in")]
    words += ["--output", str(small_disk.folder / "out")]
    small_disk.limit(100_000)
    assert main(words) == 1
    assert capsys.readouterr().err.strip().split("\n") == [
        f"nmt tokenize: {small_disk.folder / 'out'}: no space left; free some and repeat"
    ]
    assert list(small_disk.folder.iterdir()) == []
    small_disk.free()
    assert main(words) == 0
    assert (small_disk.folder / "out").read_text() == "Oui , monsieur .\n" * 20_000


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in").write_text("Oui, monsieur.\n")
    words = ["tokenize", "--input", str(tmp_path / "in"), "--output", str(tmp_path / "out")]
    assert main([*words, "--language", "fr"]) == 0
    assert (tmp_path / "out").read_text() == "Oui , monsieur .\n"
    assert "tokenize in: 1 lines" in capsys.readouterr().err
    assert main([*words, "--language", "xx"]) == 0
    assert "no abbreviations" in capsys.readouterr().err
    assert main([*words, "--language", "fr", "--shard", "2", "2", "1"]) == 0
    assert (tmp_path / "out").read_text() == ""
    assert "tokenize in (shard 2 of 2): 0 lines" in capsys.readouterr().err
    assert main([*words, "--language", "fr", "--shard", "3", "2", "1"]) == 1
    assert "--shard 3 2 1: expected a number from 1 to SHARDS" in capsys.readouterr().err
    (tmp_path / "in").unlink()
    assert main([*words, "--language", "fr"]) == 1
    assert "no such file" in capsys.readouterr().err


def test_tokenized_text_keeps_its_words(tmp_path: Path) -> None:
    """Whatever white space separates them; nothing is cut off or escaped."""
    (tmp_path / "text").write_text("房子\u3000很  大 。\n\n it's &amp; (so) \u2028x.\t\n")
    assert main(["tokenize", "--input", str(tmp_path / "text"), "--output", str(tmp_path / "out"), "--language"]) == 0
    assert list(read_lines(tmp_path / "out")) == ["房子 很 大 。", "", "it's &amp; (so) x."]
