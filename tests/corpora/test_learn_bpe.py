"""The step learn_bpe: the merges are those of a plain reading of the paper, and there are as many as were asked for."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.corpora.learn_bpe import count_characters
from nmt.corpora.subwords import Codes

TEXT = "low low lower newest newest newest widest wide x@@\nlow newer wider\n"


def learn(folder: Path, symbols: int, *texts: str) -> tuple[int, list[str]]:
    """The exit code of the step and the lines of its codes."""
    paths = [folder / f"text.{number}" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    words = ["--inputs", *paths, "--settings", json.dumps({"symbols": symbols}), "--output", folder / "codes"]
    code = main(["learn_bpe", *map(str, words)])
    return code, (folder / "codes").read_text().split("\n")[:-1] if code == 0 else []


def by_hand(words: Counter[str], merges: int) -> list[str]:
    """Algorithm 1 of Sennrich et al. (2016); of pairs that are as frequent, the last one in the order of characters."""
    split = {(*word[:-1], word[-1] + "</w>"): count for word, count in words.items()}
    learned = []
    for _ in range(merges):
        pairs: Counter[tuple[str, str]] = Counter()
        for symbols, count in split.items():
            for pair in pairwise(symbols):
                pairs[pair] += count
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        learned.append(" ".join(best))
        merged = {}
        for symbols, count in split.items():
            new: list[str] = []
            for symbol in symbols:
                if new and (new[-1], symbol) == best:
                    new[-1] += symbol
                else:
                    new.append(symbol)
            merged[tuple(new)] = count
        split = merged
    return learned


# Within a word l o w n e s i d, at its end w t e r; with UNK there are 13 symbols before the first merge.
CHARACTERS = 12


def words_of(text: str) -> Counter[str]:
    return Counter(word for word in text.split() if not word.endswith("@@"))


@pytest.mark.parametrize("merges", [1, 4, 9])
def test_the_merges_are_those_of_the_paper(tmp_path: Path, merges: int) -> None:
    code, lines = learn(tmp_path, 1 + CHARACTERS + merges, TEXT)
    assert (code, lines) == (0, ["#version: 0.2", *by_hand(words_of(TEXT), merges)])


def test_both_sides_together(tmp_path: Path) -> None:
    other = "lowest low low low\n"
    _, lines = learn(tmp_path, 1 + CHARACTERS + 3, TEXT, other)
    assert lines[1:] == by_hand(words_of(TEXT + other), 3)


def test_merges_end_with_the_pairs_that_occur_twice(tmp_path: Path) -> None:
    _, lines = learn(tmp_path, 1000, "low low x y z\n")
    assert lines[1:] == by_hand(Counter({"low": 2}), 2)


def test_a_word_without_an_end_is_not_learned(tmp_path: Path) -> None:
    """It took hours."""
    expected = learn(tmp_path, 1000, "low low x y z\n")
    assert learn(tmp_path, 1000, f"low low x y z {'ab' * 500_000}\n") == expected


def test_rare_characters_are_not_counted() -> None:
    words = Counter({"ab": 100_000, "ba": 50_000, "é": 1, "ü": 2})
    assert count_characters(words) == 4  # a and b, within a word and at its end


@pytest.mark.parametrize(
    ("symbols", "text", "said"),
    [
        (13, TEXT, "bpe.symbols is 13, but the text has 12 characters"),
        (100, "a b c a@@\n", "no words of two characters"),
        (100, "", "no words of two characters"),
    ],
)
def test_what_cannot_be_learned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], symbols: int, text: str, said: str
) -> None:
    assert learn(tmp_path, symbols, text) == (1, [])
    [line] = [line for line in capsys.readouterr().err.split("\n") if line.startswith("nmt learn_bpe:")]
    assert said in line


def test_words_with_a_carriage_return_are_not_learned_from(tmp_path: Path) -> None:
    """It would end a line of the codes."""
    (tmp_path / "text").write_bytes(b"a\rb lo lo lower\r lower\n" * 9)
    words = ["--inputs", tmp_path / "text", "--settings", '{"symbols": 20}', "--output", tmp_path / "codes"]
    assert main(["learn_bpe", *map(str, words)]) == 0
    assert Codes.read(tmp_path / "codes").split(["lo"]) == ["lo"]
