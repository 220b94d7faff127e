"""nmt.corpora.shortlist: ids by descending count, and how much of the text they cover."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.__main__ import main
from nmt.corpora.shortlist import EOS, UNK, Shortlist, count_words, make_shortlist
from nmt.system.errors import UserError
from tests.conftest import SmallDisk

TEXT = "b a c\na  b\n\nb d\u2028d\x0ce UNK <eos>\n"


def shortlist_of(folder: Path, text: str | bytes, size: int) -> tuple[int, Path]:
    source, output = folder / "text.en", folder / "en.tsv"
    source.write_bytes(text.encode() if isinstance(text, str) else text)
    words = ["--input", source, "--settings", json.dumps({"size": size}), "--output", output]
    return main(["shortlist", *map(str, words)]), output


def test_words_follow_by_descending_count_then_alphabetically(tmp_path: Path) -> None:
    code, output = shortlist_of(tmp_path, TEXT, 4)
    assert code == 0
    # 9 tokens: b 3, a 2, c 1; "d d e" with its odd white space is one word; UNK and <eos> are never words
    assert output.read_bytes() == b"<eos>\t4\n<unk>\t3\nb\t3\na\t2\nc\t1\n"


def test_ids_and_words(tmp_path: Path) -> None:
    _, output = shortlist_of(tmp_path, TEXT, 4)
    shortlist = Shortlist.read(output)
    assert len(shortlist) == 5  # a size of 4 counts the unknown word, not the end of the sentence
    assert shortlist.ids(["b", "x", "a", "c", "UNK", "<eos>", "<unk>"]) == [2, UNK, 3, 4, UNK, UNK, UNK]
    assert shortlist.words([2, UNK, 4, EOS]) == ["b", "UNK", "c", "<eos>"]


def test_a_size_beyond_the_vocabulary_keeps_all_and_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, output = shortlist_of(tmp_path, "b a\nb\n", 30000)
    assert code == 0
    assert len(Shortlist.read(output)) == 4
    assert "only 2 of the 29999 words" in capsys.readouterr().err


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=9), max_size=9), st.integers(2, 12))
def test_the_best_words_are_kept(sentences: list[list[str]], size: int) -> None:
    counter, count = count_words(map(" ".join, sentences))
    assert counter == Counter(word for words in sentences for word in words)
    shortlist = make_shortlist(counter, size, count)
    kept = shortlist.symbols[2:]
    assert len(kept) == min(size - 1, len(counter))
    assert shortlist.counts[EOS] == len(sentences)
    assert sum(shortlist.counts[UNK:]) == counter.total()
    left = [count for word, count in counter.items() if word not in kept]
    assert max(left, default=0) <= min((counter[word] for word in kept), default=0)
    assert shortlist.words(shortlist.ids(kept)) == list(kept)


@pytest.mark.parametrize("size", [-1, 0, 1])
def test_a_size_without_room_for_a_word(tmp_path: Path, size: int, capsys: pytest.CaptureFixture[str]) -> None:
    code, output = shortlist_of(tmp_path, TEXT, size)
    assert code == 1
    assert f"size: expected a whole number, from 2 to 10000000, not {size}" in capsys.readouterr().err
    assert not output.exists()


@pytest.mark.parametrize("text", [b"", b"\n \n", b"UNK\n"])
def test_a_text_without_words(tmp_path: Path, text: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    code, output = shortlist_of(tmp_path, text, 10)
    assert code == 1
    assert "text.en: no words for a shortlist" in capsys.readouterr().err
    assert not output.exists()


def test_text_that_is_not_utf8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, output = shortlist_of(tmp_path, b"a\n\xe9t\xe9\n", 10)
    assert code == 1
    assert "line 2 is not UTF-8" in capsys.readouterr().err
    assert not output.exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<eos>\t1\n",
        "<eos>\t1\n<unk>\t0\n",
        "a\t1\n<eos>\t1\n<unk>\t0\n",
        "<eos>\t1\n<unk>\t0\na\n",
        "<eos>\t1\n<unk>\t0\na\t1\na\t1\n",
        "<eos>\t1\n<unk>\t0\na\t-1\n",
        "<eos>\t1\n<unk>\t0\n\t1\n",
    ],
)
def test_a_broken_shortlist_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "en.tsv").write_text(text)
    with pytest.raises(UserError, match=r"en\.tsv"):
        Shortlist.read(tmp_path / "en.tsv")


def test_a_full_disk_is_one_line_and_freeing_space_fixes_it(
    tmp_path: Path, small_disk: SmallDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    source, output = tmp_path / "text.en", small_disk.folder / "en.tsv"
    source.write_text("".join(f"word{number}\n" for number in range(20_000)))
    words = ["shortlist", "--input", str(source), "--output", str(output)]
    small_disk.refuse_then_take(words, output, 65536, capsys)
    assert len(Shortlist.read(output)) == 20_002


@pytest.mark.parametrize("count", ["9" * 5000, "-1", "x", ""])
def test_a_damaged_count_is_one_line(tmp_path: Path, count: str) -> None:
    (tmp_path / "en.tsv").write_text(f"<eos>\t1\n<unk>\t0\na\t{count}\n")
    with pytest.raises(UserError, match="line 3 is not a word, a tab and a count"):
        Shortlist.read(tmp_path / "en.tsv")
