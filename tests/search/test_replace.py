"""Unknown words are replaced by source words."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nmt.corpora.shortlist import UNK
from nmt.search.replace import read_dictionary, replace_unknown
from nmt.system.files import UserError


def test_the_word_of_largest_weight_but_never_the_end() -> None:
    alignment = torch.tensor([[0.1, 0.7, 0.2], [0.9, 0.1, 0.0], [0.1, 0.2, 0.7], [0.0, 0.0, 1.0]])
    words = replace_unknown([UNK, 5, UNK], ["UNK", "UNK", "UNK"], ["Anna", "Orléans"], alignment, {})
    assert words == ["Orléans", "UNK", "Orléans"]  # the second is another symbol that is written the same
    dictionary = {"Orléans": "la Nouvelle-Orléans"}
    assert replace_unknown([UNK, 5], ["UNK", "x"], ["Anna", "Orléans"], alignment, dictionary) == [
        "la Nouvelle-Orléans",
        "x",
    ]


def test_the_first_line_of_a_source_word_counts(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("a\tb\nc\td e\u2028f\na\tg\n", encoding="utf-8")
    assert read_dictionary(str(tmp_path / "words")) == {"a": "b", "c": "d e\u2028f"}


def test_a_dictionary_of_another_system_has_the_same_words(tmp_path: Path) -> None:
    (tmp_path / "words").write_bytes("\ufeffa\tb\r\nc\td\r\n".encode())
    assert read_dictionary(str(tmp_path / "words")) == {"a": "b", "c": "d"}


@pytest.mark.parametrize("line", ["a b", "a\t", "\tb", "a\tb\tc", ""])
def test_a_line_that_is_not_a_pair_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "words").write_text(f"a\tb\n{line}\n", encoding="utf-8")
    with pytest.raises(UserError, match="words: line 2 is not a source word"):
        read_dictionary(str(tmp_path / "words"))
