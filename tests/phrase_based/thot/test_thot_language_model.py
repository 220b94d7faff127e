"""The n-gram counts against a plain count of tuples."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from nmt.__main__ import main
from tests.phrase_based.conftest import System, settings


@pytest.mark.parametrize("order", [1, 2, 4])
def test_counts(system: System, tmp_path: Path, order: int) -> None:
    text = system.texts[1]
    words = ["thot_language_model", "--texts", text, text, *settings(order=order), "--output", tmp_path]
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


def test_a_text_may_be_shorter_than_the_order(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("word\n")
    words = ["thot_language_model", "--texts", tmp_path / "text", *settings(order=6), "--output", tmp_path / "model"]
    assert main([str(word) for word in words]) == 0
    grams = [line.split()[:-2] for line in (tmp_path / "model/model").read_text().split("\n")[:-1]]
    assert sorted(map(len, grams)) == [1, 1, 1, 2, 2, 3]


def test_lines_of_the_held_out_sets_are_dropped(
    system: System, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = system.texts[1].read_text(encoding="utf-8").split("\n")[:-1]
    held_out, text = lines[3:5], tmp_path / "text"
    text.write_text("\n".join([*lines, *lines[:10], ""]), encoding="utf-8")
    (tmp_path / "held_out").write_text("\n".join([*held_out, "", "no such line", ""]), encoding="utf-8")
    kept = [line for line in [*lines, *lines[:10]] if line not in held_out]
    (tmp_path / "rest").write_text("\n".join([*kept, ""]), encoding="utf-8")
    for texts, folder in (([text, "--held-out", tmp_path / "held_out"], "a"), ([tmp_path / "rest"], "b")):
        words = ["thot_language_model", "--texts", *texts, "--output", tmp_path / folder]
        assert main([str(word) for word in words]) == 0
    assert f"lines of the held-out sets dropped: {len(lines) + 10 - len(kept)}\n" in capsys.readouterr().err
    assert (tmp_path / "a/model").read_bytes() == (tmp_path / "b/model").read_bytes()


def test_a_text_without_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("\n \n")
    assert main(["thot_language_model", "--texts", str(tmp_path / "text"), "--output", str(tmp_path / "model")]) == 1
    assert "text: no words; give the language model a text" in capsys.readouterr().err
