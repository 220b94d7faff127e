"""The n-gram counts against a plain count of tuples."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from nmt.__main__ import main
from tests.phrase_based.conftest import System


@pytest.mark.parametrize("order", [1, 2, 4])
def test_counts(system: System, tmp_path: Path, order: int) -> None:
    text = system.texts[1]
    words = ["language_model", "--texts", text, text, "--order", order, "--output", tmp_path]
    assert main([str(word) for word in words]) == 0
    seen: set[str] = set()
    counter: Counter[tuple[str, ...]] = Counter()
    for line in text.read_text(encoding="utf-8").split("\n")[:-1] * 2:
        sentence = ["<s>"]
        for word in line.split():
            sentence.append(word if word in seen else "<unk>")
            seen.add(word)
        sentence.append("</s>")
        for n in range(1, order + 1):
            counter.update(tuple(sentence[first : first + n]) for first in range(len(sentence) - n + 1))
    total = sum(count for gram, count in counter.items() if len(gram) == 1)
    expected = {f"{' '.join(gram)} {counter[gram[:-1]] or total} {count}" for gram, count in counter.items()}
    written = (tmp_path / "model").read_text(encoding="utf-8").split("\n")[:-1]
    assert len(written) == len(set(written))
    assert set(written) == expected
    assert (tmp_path / "model.weights").read_text().split()[:3] == [str(order), "3", "10"]


def test_a_text_without_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("\n \n")
    assert main(["language_model", "--texts", str(tmp_path / "text"), "--output", str(tmp_path / "model")]) == 1
    assert "no words in it" in capsys.readouterr().err
