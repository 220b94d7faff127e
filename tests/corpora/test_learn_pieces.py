"""The step learn_pieces: the same bytes for the same text, settings and seed, and mistakes are one line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.corpora.learn_pieces import draw
from tests.corpora.test_pieces import TEXT


def test_the_same_text_and_seed_give_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in TEXT), encoding="utf-8")
    for name, seed in (("one", 1), ("two", 1), ("other", 2)):
        settings = '{"symbols": 350, "sentences": 9}'
        words = ["--inputs", tmp_path / "text", "--settings", settings, "--seed", seed, "--output", tmp_path / name]
        assert main(["learn_pieces", *map(str, words)]) == 0
    one, two, other = ((tmp_path / name).read_bytes() for name in ("one", "two", "other"))
    assert one == two
    assert one != other


def test_every_line_is_drawn_as_often_as_the_others() -> None:
    lines = [str(number) for number in range(10)]
    drawn = Counter(line for seed in range(2000) for line in draw(lines, 3, seed))
    assert {*drawn} == {*lines}
    assert max(abs(count - 600) for count in drawn.values()) < 100  # five standard deviations
    assert draw(lines, 20, 1) == lines


def test_too_few_symbols_for_the_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("".join(map(chr, range(0x4E00, 0x5000))), encoding="utf-8")
    words = ["--inputs", tmp_path / "text", "--settings", '{"symbols": 300}', "--seed", 1, "--output", tmp_path / "out"]
    assert main(["learn_pieces", *map(str, words)]) == 1
    error = capsys.readouterr().err
    assert f"{tmp_path / 'text'}: sentencepiece.symbols is 300, but its characters and bytes are" in error
    assert error.splitlines()[-1].endswith("are 770; raise it")


@pytest.mark.parametrize("text", ["\n\n", "a" * 10_001])
def test_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (tmp_path / "text").write_text(text)
    words = ["--inputs", tmp_path / "text", "--seed", 1, "--output", tmp_path / "out"]
    assert main(["learn_pieces", *map(str, words)]) == 1
    assert "no text in lines of at most 10,000 bytes" in capsys.readouterr().err
