"""The weights of attention: those of the equations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from nmt.corpora.shortlist import EOS, EOS_SYMBOL, UNK
from nmt.search.alignments import Alignment, alignments, merge, read_alignments, read_dictionary, replace_unknown
from nmt.settings.sections import NFC
from nmt.system.errors import UserError
from tests.model import oracle
from tests.model.models import ragged_pairs, tiny_model


@pytest.mark.parametrize("order", ["look_generate_update", "printed"])
@pytest.mark.parametrize("implementation", ["fast", "readable"])
def test_weights_are_those_of_the_equations(order: str, implementation: str) -> None:
    model = tiny_model(decoder_order=order, implementation=implementation)
    weights = {name: weight.numpy() for name, weight in model.state_dict().items()}
    sources, targets = ragged_pairs()
    found = alignments(model, sources, targets)
    for source, target, matrix in zip(sources, targets, found, strict=True):
        _, expected = oracle.nll(weights, [*source, EOS], [*target, EOS], order == "printed")
        np.testing.assert_allclose(matrix, expected, rtol=1e-10)


def test_a_line_of_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    one = Alignment(1, 0, ["UNK", "b", EOS_SYMBOL], ["c", EOS_SYMBOL], [[0.12345, 0.8, 0.1], [0.0, 0.5, 0.5]])
    other = replace(one, rank=1, target=["d"])
    fixed = replace(one, line=2, source=["e", EOS_SYMBOL], weights=None)
    path = tmp_path / "alignments.jsonl"
    path.write_text("".join(f"{each.to_json()}\n" for each in (one, other, fixed)))
    rounded = replace(one, source=["a", "b", EOS_SYMBOL], weights=[[0.1235, 0.8, 0.1], [0.0, 0.5, 0.5]])
    assert list(read_alignments(str(path), ["", "a b", "e"])) == [rounded, fixed]
    with pytest.raises(UserError, match=r"line 1 is not an alignment of the source \(its source words differ\)"):
        list(read_alignments(str(path), ["", "a c", "e"]))


def test_a_line_that_has_no_subwords_needs_no_alignment(tmp_path: Path) -> None:
    """The vocabularies of subwords drop such words, so nothing is left to translate."""
    path = tmp_path / "alignments.jsonl"
    one = Alignment(0, 0, ["a", EOS_SYMBOL], ["c", EOS_SYMBOL], [[0.5, 0.5], [0.0, 1.0]])
    path.write_text(f"{one.to_json()}\n")
    assert list(read_alignments(str(path), ["a", "b@@", "c" * 1001, " ", "▁ ▁▁"])) == [one]
    with pytest.raises(UserError, match="no alignment of line 2; translate the whole text again"):
        list(read_alignments(str(path), ["a", "b@@ b"]))


def test_text_is_compared_as_it_is_translated(tmp_path: Path) -> None:
    """Normalized once more: a tokenizer that removes a character may leave what the normal form joins, or nothing."""
    line, joined = "\u1100\u1161 \u00ad", "\uac00"
    one = Alignment(0, 0, [joined, "\u00ad", EOS_SYMBOL], ["c"], [[0.5, 0.5, 0.0]])
    apart = replace(one, line=2, source=[*line.split(" "), EOS_SYMBOL])
    path = tmp_path / "alignments.jsonl"
    path.write_text(f"{one.to_json()}\n{apart.to_json()}\n")
    assert list(read_alignments(str(path), [line, "\u00ad", line])) == [one, replace(one, line=2)]


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "5",
        "[" * 100_000,
        '{"line": 1e999}',
        *(
            f'{{"line": 0, "source": ["a", "<eos>"], "target": ["c"], "weights": [[{weight}, 0]]}}'
            for weight in ("NaN", "7", "-0.1", "1" * 400)
        ),
    ],
    ids=["no line", "a number", "nested", "infinite", "not a number", "7", "negative", "400 digits"],
)
def test_a_damaged_line_is_one_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "alignments.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(UserError, match="line 1 is not an alignment of the source"):
        list(read_alignments(str(path), ["a"]))


def test_source_subwords_are_summed_and_target_subwords_averaged() -> None:
    weights = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.0, 0.25, 0.75]])
    # Target: a word of two subwords, then one of one; source: likewise, with a dropped word between them.
    expected = [[0.75, 0.0, 0.25], [0.25, 0.0, 0.75]]
    assert merge(weights, [0, 0, 1], [0, 0, 2]).tolist() == expected


def test_weights_between_words_stay_as_they_are() -> None:
    weights = np.random.default_rng(1).random((4, 6))
    assert np.array_equal(merge(weights, range(4), range(6)), weights)


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
    assert read_dictionary(str(tmp_path / "words"), NFC) == {"a": "b", "c": "d e\u2028f"}


def test_a_dictionary_of_another_system_has_the_same_words(tmp_path: Path) -> None:
    (tmp_path / "words").write_bytes("\ufeffa\tb\r\nc\td\r\n".encode())
    assert read_dictionary(str(tmp_path / "words"), NFC) == {"a": "b", "c": "d"}


def test_the_words_of_a_dictionary_are_normalized_as_text_is(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("Zu\u0308rich \tu\u0308\n\ufeffa\t b\n", encoding="utf-8")
    assert read_dictionary(str(tmp_path / "words"), NFC) == {"Z\u00fcrich": "\u00fc", "a": "b"}
    assert list(read_dictionary(str(tmp_path / "words"), "none")) == ["Zu\u0308rich", "a"]


@pytest.mark.parametrize("line", ["a b", "a\t", "\tb", "a\tb\tc", ""])
def test_a_line_that_is_not_a_pair_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "words").write_text(f"a\tb\n{line}\n", encoding="utf-8")
    with pytest.raises(UserError, match="words: line 2 is not a source word"):
        read_dictionary(str(tmp_path / "words"), NFC)
