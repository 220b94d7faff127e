"""Lines are normalized where they come in, and language codes are understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.corpora.arrays import read_array
from nmt.corpora.clean import RECORD, State
from nmt.corpora.languages import SHORT, bleu_tokenizer, has_spaces, known_as
from nmt.corpora.normalization import normalized
from nmt.corpora.tokenize import Tokenizer, has_abbreviations

NFD = "L'e\u0301te\u0301"


@pytest.mark.parametrize(
    ("line", "form", "expected"),
    [
        (NFD, "nfc", "L'été"),
        (NFD, "none", NFD),
        ("\ufeffa b", "none", "a b"),
        ("a \ufeffb\ufeff", "nfc", "a b"),
        ("\u200b", "none", ""),
        (" \u00ad\u200b ", "nfc", ""),
        ("a\u200bb\u00adc", "nfc", "a\u200bb\u00adc"),  # within a line they may matter
        ("a\tb\r", "nfc", "a\tb\r"),
        ("", "nfc", ""),
    ],
)
def test_a_line(line: str, form: str, expected: str) -> None:
    assert normalized(line, form) == expected


def extracted(folder: Path, *options: str) -> bytes:
    (folder / "text").write_bytes(f"\ufeffone\r\n{NFD}\n\u200b\nl\ufeffast\n".encode())
    words = ["--name", "text", "--archives", folder / "text", "--members", "", "--outputs", folder / "out", *options]
    assert main(["extract", *map(str, words)]) == 0
    return (folder / "out").read_bytes()


def test_a_corpus_is_normalized_and_its_lines_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert extracted(tmp_path) == "one\nL'été\n\nlast\n".encode()
    assert "text: 3 lines, first 2, were normalized" in capsys.readouterr().err


def test_a_corpus_may_keep_its_characters(tmp_path: Path) -> None:
    assert extracted(tmp_path, "--normalize", "none") == f"one\n{NFD}\n\nlast\n".encode()


def test_a_held_out_line_is_known_whatever_its_white_space(tmp_path: Path) -> None:
    for side in ("source", "target"):
        (tmp_path / side).write_bytes(b"a b\nc d\r\ne\n")
        (tmp_path / f"held.{side}").write_bytes(b"a  b\r\nc d\n")
    words = ["--texts", tmp_path / "source", tmp_path / "target", "--output", tmp_path / "out"]
    held = ["--held-out-sources", tmp_path / "held.source", "--held-out-targets", tmp_path / "held.target"]
    assert main(["clean", *map(str, [*words, *held])]) == 0
    states = read_array(tmp_path / "out", RECORD)["state"].tolist()
    assert states == [State.HELD_OUT, State.HELD_OUT, State.CLEAN]


@pytest.mark.parametrize("code", ["fr", "fra", "fre", "fr-CA", "fr_FR", "FR"])
def test_codes_of_one_language(code: str) -> None:
    assert known_as(code) == "fr"
    assert Tokenizer(code).line("L'été d'Anne") == Tokenizer("fr").line("L'été d'Anne")
    assert has_abbreviations(code)
    assert bleu_tokenizer(code) == "13a"


def test_codes_of_other_languages() -> None:
    assert all(len(long) == 3 and len(short) == 2 for long, short in SHORT.items())
    assert (known_as("haw"), known_as("zh-Hant"), known_as("cmn")) == ("haw", "zh", "zh")
    assert not has_abbreviations("mri")
    assert [has_spaces(code) for code in ("th", "tha", "zh-TW", "ko", "vi")] == [False, False, False, True, True]
    assert [bleu_tokenizer(code) for code in ("tha", "zh-TW", "wuu")] == ["char", "zh", "zh"]
    assert bleu_tokenizer("ja") in ("ja-mecab", "char")
