"""The classes of words of Figure 4: the project's own file, and files with mistakes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nmt.papers.choi2017.word_classes import read_word_classes
from nmt.system.errors import UserError

FILE = "nmt/papers/choi2017/word_classes.tsv"


def test_the_words_of_the_papers_figure_are_in_their_classes() -> None:
    classes = read_word_classes(str(Path(__file__).parents[3] / FILE))
    assert list(classes) == ["article", "preposition", "noun", "adjective", "politics"]
    assert {"a", "the"} <= classes["article"]
    assert {"to", "of"} <= classes["preposition"]
    assert {"strategy", "election", "obama"} <= classes["noun"]
    assert "republican" in classes["adjective"]
    assert {"republican", "strategy", "election", "obama"} <= classes["politics"]


def test_the_built_in_language() -> None:
    assert list(read_word_classes()) == ["article", "preposition", "noun", "adjective", "place"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no classes in it"),
        ("article a the\n", "line 1 is not a class, a tab and its words"),
        ("article\ta\nnoun\t\n", "line 2 is not a class, a tab and its words"),
        ("noun\tday\nnoun\tyear\n", "line 2: the class noun is there already"),
        ("alignment\tday\n", "line 1: alignment is the name of the aligner's row; rename the class"),
    ],
)
def test_files_with_mistakes(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "classes.tsv").write_text(text)
    with pytest.raises(UserError, match=message):
        read_word_classes(str(tmp_path / "classes.tsv"))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "classes.tsv")
    with pytest.raises(UserError, match=r"classes\.tsv: a pipe or a device; name a file"):
        read_word_classes(str(tmp_path / "classes.tsv"))


def test_a_file_of_classes_is_normalized_as_the_text_is(tmp_path: Path) -> None:
    path = tmp_path / "classes.tsv"
    path.write_text("\ufeffpreposition\tfu\u0308r u\u0308ber\n", encoding="utf-8")
    assert read_word_classes(str(path)) == {"preposition": {"für", "über"}}
    assert read_word_classes(str(path), "none") == {"preposition": {"fu\u0308r", "u\u0308ber"}}


def test_words_may_have_the_escapes_of_the_tokenizer(tmp_path: Path) -> None:
    path = tmp_path / "classes.tsv"
    path.write_text("article\tL' un&apos;\n")
    assert read_word_classes(str(path)) == {"article": {"l'", "un'"}}
