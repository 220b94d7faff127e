"""A trained model's folder: what is in it, and one line where something is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.corpora.shortlist import Shortlist
from nmt.system.files import UserError
from nmt.trained import load_translator
from tests.model.models import SOURCE_SYMBOLS, save_translator, tiny_model

CPU = torch.device("cpu")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_translator(tmp_path / "model", tiny_model(dtype=torch.float32))
    return tmp_path / "model"


def test_model_words_and_languages(folder: Path) -> None:
    translator = load_translator(folder, CPU)
    assert (len(translator.source), len(translator.target)) == translator.model.symbols
    assert (translator.source.words([2, 1]), translator.target.words([12])) == (["s2", "UNK"], ["t12"])
    assert translator.languages == ("en", "fr")
    assert not translator.model.training
    weights = tiny_model(dtype=torch.float32).state_dict()
    assert all(torch.equal(weight, weights[name]) for name, weight in translator.model.state_dict().items())


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda folder: folder.rename(folder.with_name("other")), "model: no such folder"),
        (lambda folder: (folder / "model.safetensors").unlink(), "no model.safetensors in it"),
        (
            lambda folder: [(folder / name).unlink() for name in ("summary.json", "target.tsv")],
            "no summary.json, no ta",
        ),
        (lambda folder: (folder / "summary.json").write_text("{}"), '"languages"'),
        (lambda folder: (folder / "summary.json").write_text("[]"), '"languages"'),
        (lambda folder: (folder / "summary.json").write_text('{"languages": ["en", 1]}'), '"languages"'),
        (lambda folder: (folder / "summary.json").write_text("{"), "summary.json: not JSON"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"not a model"), "model.safetensors"),
        (
            lambda folder: Shortlist(
                ("<eos>", "<unk>", *map(str, range(SOURCE_SYMBOLS))), (1,) * (SOURCE_SYMBOLS + 2)
            ).write(folder / "source.tsv"),
            "source.tsv",
        ),
    ],
)
def test_what_is_wrong_is_named(folder: Path, spoil: Any, named: str) -> None:
    spoil(folder)
    with pytest.raises(UserError, match=named):
        load_translator(folder, CPU)


def test_a_file_is_no_folder(folder: Path) -> None:
    with pytest.raises(UserError, match=r"model\.safetensors: no such folder"):
        load_translator(folder / "model.safetensors", CPU)


@pytest.mark.parametrize("context", ["attention", "fixed"])
def test_a_fixed_context_looks_at_no_word(tmp_path: Path, context: str) -> None:
    save_translator(tmp_path, tiny_model(dtype=torch.float32, context=context))
    translator = load_translator(tmp_path, CPU)
    if context == "attention":
        translator.require_attention("--option")
        return
    with pytest.raises(UserError, match=rf"{tmp_path}.*fixed.*--option"):
        translator.require_attention("--option")
