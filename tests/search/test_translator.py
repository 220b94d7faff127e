"""The Python interface: `nmt.load(DIR)` translates lines, and says how sure it is and where it attends to."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import torch

import nmt
from nmt.corpora.detokenize import detokenizer
from nmt.corpora.tokenize import Tokenizer
from nmt.search.translator import Translator
from nmt.system.errors import UserError
from tests.model.models import save_trained, tiny_model
from tests.search.reference import Found, reference_fallback

DOCUMENT = Path(__file__).parents[2] / "docs/python.md"
LINES = ["s4 s2 s9", "", "s2 s2 s10 strange s3 s5", "  "]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a random model that ends its sentences."""
    model = tiny_model(dtype=torch.float32)
    with torch.no_grad():
        model.decoder.readout.b_o[0] += 6
    save_trained(tmp_path / "model", model)
    return tmp_path / "model"


def by_hand(translator: Translator, line: str, beam: int) -> list[Found]:
    """The hypotheses of the one-sentence search."""
    words = line.split()
    return reference_fallback(translator.trained.model, translator.trained.source.ids(words), beam) if words else []


def test_every_line_has_its_best_translation(folder: Path) -> None:
    translator = nmt.load(folder, "cpu", tokenized=True)
    found = translator.translate(LINES, beam=4, batch=2)
    best = [by_hand(translator, line, 4)[:1] for line in LINES]
    assert found == [" ".join(translator.trained.target.words(one[0].words)) if one else "" for one in best]
    assert [bool(line) for line in found] == [True, False, True, False]


def test_a_search_gives_scores_and_weights(folder: Path) -> None:
    translator = nmt.load(folder, "cpu", tokenized=True)
    found = translator.search(LINES, n_best=3, beam=4)
    assert list(map(len, found)) == [3, 0, 3, 0]
    for line, translations in zip(LINES, found, strict=True):
        for one, expected in zip(translations, by_hand(translator, line, 4), strict=False):
            assert one.text == " ".join(translator.trained.target.words(expected.words))
            assert one.log_probability == pytest.approx(expected.log_probability, abs=1e-5)
            assert (one.ended, one.length) == (expected.ended, len(expected.words) + expected.ended)
            assert (one.source, one.target) == ([*line.split(), "<eos>"], [*one.text.split(), "<eos>"])
            np.testing.assert_allclose(one.weights, np.stack(expected.alignment), atol=1e-5)


def test_running_text_in_and_out(folder: Path) -> None:
    plain, tokenized = nmt.load(folder, "cpu"), nmt.load(folder, "cpu", tokenized=True)
    line = "Don't, s3."
    [expected] = tokenized.translate([Tokenizer("en").line(line)])
    assert plain.translate([line]) == [detokenizer("fr")(expected)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"beam": 0}, "beam 0: must be from 1 to 1000"),
        ({"beam": 1.5}, "beam: expected a whole number, not 1.5"),
        ({"beam": "3"}, "beam: expected a whole number, not '3'"),
        ({"beam": True}, "beam: expected a whole number, not True"),
        ({"batch": None}, "batch: expected a whole number, not None"),
        ({"n_best": 1.5}, "n-best: expected a whole number, not 1.5"),
        ({"beam": 1001}, "beam 1001: must be from 1 to 1000"),
        ({"batch": 0}, "batch 0: must be from 1 to 1000000"),
        ({"forbid_unk": "yes"}, "forbid_unk: expected True or False, not 'yes'"),
        ({"normalize": 1}, "normalize: expected True or False, not 1"),
        ({"n_best": 13}, "n-best 13: must be from 1 to 12"),
    ],
)
def test_a_mistake_is_said(folder: Path, options: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match=said):
        nmt.load(folder, "cpu").search(["s2"], **options)  # type: ignore[arg-type]
    shutil.rmtree(folder)
    with pytest.raises(UserError, match="model: no such folder"):
        nmt.load(folder)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("s2 s3", "expected a list of sentences, not one sentence"),
        (b"s2 s3", "expected a list of sentences, not one sentence"),
        (None, "expected a list of sentences, not NoneType"),
        (3, "expected a list of sentences, not int"),
        (np.array("s2"), "expected a list of sentences, not ndarray"),
        (["s2", None], "line 2 is NoneType, not a string"),
        ([b"s2"], "line 1 is bytes, not a string"),
    ],
)
def test_what_is_no_list_of_sentences_is_said(folder: Path, lines: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        nmt.load(folder, "cpu", tokenized=True).translate(lines)


def test_a_mistake_of_the_lines_themselves_is_not_ours(folder: Path) -> None:
    rows: list[Any] = [{"text": "s2"}, None]
    with pytest.raises(TypeError, match="'NoneType' object is not subscriptable"):
        nmt.load(folder, "cpu").translate(row["text"] for row in rows)


def test_whole_numbers_of_numpy_are_whole_numbers(folder: Path) -> None:
    model = nmt.load(folder, "cpu")
    options: dict[str, Any] = {"n_best": np.int8(2), "beam": np.uint8(3), "batch": np.int64(1)}
    [found], [expected] = model.search(["s2 s3"], **options), model.search(["s2 s3"], n_best=2, beam=3, batch=1)
    assert [one.text for one in found] == [one.text for one in expected]
    assert len(model.search(["s2"], beam=np.uint8(200), n_best=np.uint8(3))[0]) == 3


@pytest.mark.parametrize("odd", [None, 1, b"model"])
def test_a_folder_is_a_path(odd: Any) -> None:
    with pytest.raises(UserError, match="folder: expected a path, not "):
        nmt.load(odd)


def test_half_a_surrogate_pair_is_an_unknown_character(folder: Path) -> None:
    model = nmt.load(folder, "cpu")
    assert model.translate(["s2 \udcff"]) == model.translate(["s2 ?"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"device": "gpu"}, "device: expected one of auto"),
        ({"precision": "fp64"}, "precision: expected one of float32"),
        ({"tokenized": "no"}, "tokenized: expected true or false"),
    ],
)
def test_an_option_of_another_kind_is_said(folder: Path, options: dict[str, str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        nmt.load(folder, **options)  # type: ignore[arg-type]


def test_lines_are_read_once(folder: Path, tmp_path: Path) -> None:
    model, lines = nmt.load(folder, "cpu", tokenized=True), ["s2 s3", "", "s4"]
    expected = model.translate(lines)
    assert model.translate(iter(lines)) == expected
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in lines))
    with open(tmp_path / "text") as file:
        assert model.translate(file) == expected
    assert model.translate([]) == []


def test_a_model_is_shown_on_a_line(folder: Path) -> None:
    shown = repr(nmt.load(folder, "cpu"))
    assert len(shown) < 300
    assert str(folder) in shown


def test_the_example_of_the_document_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    section = DOCUMENT.read_text().split("\n## ")[0]
    [block] = re.findall(r"(?:^(?: {4}.*)?\n)*^ {4}.*\n(?:^(?: {4}.*)?\n)*", section, re.MULTILINE)
    monkeypatch.chdir(folder.parent)
    assert '"DIR"' in block
    exec(dedent(block).replace('"DIR"', f'"{folder}"'), {})
    assert len(capsys.readouterr().out.split("\n")) > 4
    assert (folder.parent / "alignment.png").stat().st_size > 0
