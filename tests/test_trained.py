"""A trained model's folder: what is in it, and one line where something is not."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.corpora.shortlist import Shortlist
from nmt.system import device
from nmt.system.errors import UserError
from nmt.trained import check_output, load_model, load_trained, save_model
from tests.model.models import SOURCE_SYMBOLS, ragged_batch, save_trained, tiny_model

CPU = torch.device("cpu")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_trained(tmp_path / "model", tiny_model(dtype=torch.float32))
    return tmp_path / "model"


def test_model_words_and_languages(folder: Path) -> None:
    trained = load_trained(folder, CPU)
    assert (len(trained.source), len(trained.target)) == trained.model.symbols
    assert (trained.source.words([2, 1]), trained.target.words([12])) == (["s2", "UNK"], ["t12"])
    assert trained.languages == ("en", "fr")
    assert not trained.model.training
    weights = tiny_model(dtype=torch.float32).state_dict()
    assert all(torch.equal(weight, weights[name]) for name, weight in trained.model.state_dict().items())


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
        (lambda folder: (folder / "summary.json").write_text("[" * 100_000), "summary.json: not JSON"),
        (lambda folder: (folder / "summary.json").write_text('{"languages": ["en", "fr"]}'), '"digests"'),
        (lambda folder: swap(folder / "source.tsv", folder / "target.tsv"), "source.tsv: damaged or replaced"),
        (lambda folder: swap_words(folder / "target.tsv"), "target.tsv: damaged or replaced"),
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
        load_trained(folder, CPU)


def swap(one: Path, other: Path) -> None:
    """Exchange the contents of two files."""
    contents = one.read_bytes(), other.read_bytes()
    other.write_bytes(contents[0])
    one.write_bytes(contents[1])


def swap_words(shortlist: Path) -> None:
    """Exchange two words: what was the id of one is that of the other."""
    *symbols, last, before = shortlist.read_text().split("\n")[:-1]
    shortlist.write_text("".join(f"{line}\n" for line in (*symbols, before, last)))


@pytest.mark.parametrize("name", ["model.safetensors", "source.tsv", "target.tsv"])
def test_a_flipped_bit_is_noticed(folder: Path, name: str) -> None:
    whole = (folder / name).read_bytes()
    for place in np.random.default_rng(3).integers(8 * len(whole), size=8):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        (folder / name).write_bytes(damaged)
        with pytest.raises(UserError, match=f"{name}: damaged or replaced, .*; train it again"):
            load_trained(folder)


ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.just(10**12), st.floats(), st.text(max_size=3), st.just([]), st.just({})
)
TINY = asdict(tiny_model(dtype=torch.float32).architecture)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(place=st.sampled_from(["architecture", "symbols", "updates", "source", *TINY]), odd=ODD)
def test_odd_metadata_of_the_weights_are_one_line(
    tmp_path_factory: pytest.TempPathFactory, place: str, odd: Any
) -> None:
    """A size that no memory holds among them; what happens to be right is read."""
    path = tmp_path_factory.mktemp("odd") / "model.safetensors"
    model = tiny_model(dtype=torch.float32)
    about: dict[str, Any] = {"architecture": dict(TINY), "symbols": list(model.symbols), "updates": 7}
    if place == "source":
        about["symbols"][0] = odd
    else:
        (about if place in about else about["architecture"])[place] = odd
    weights = {name: weight.contiguous() for name, weight in model.state_dict().items()}
    safetensors.torch.save_file(weights, path, {"model": json.dumps(about)})
    said = str(path)
    try:
        load_model(path)
    except UserError as error:
        said = str(error)
    assert str(path) in said
    assert "\n" not in said


def test_a_file_is_no_folder(folder: Path) -> None:
    with pytest.raises(UserError, match=r"model\.safetensors: no such folder"):
        load_trained(folder / "model.safetensors", CPU)


@pytest.mark.parametrize("attention", ["additive", "fixed"])
def test_a_fixed_context_attends_to_no_word(tmp_path: Path, attention: str) -> None:
    save_trained(tmp_path, tiny_model(dtype=torch.float32, attention=attention))
    trained = load_trained(tmp_path, CPU)
    if attention == "additive":
        trained.require_attention("--option")
        return
    with pytest.raises(UserError, match=rf"{tmp_path}.*fixed.*--option"):
        trained.require_attention("--option")


@pytest.mark.parametrize(
    ("precision", "fast", "warned"), [("bf16", False, 1), ("bf16", True, 0), ("float32", False, 0)]
)
def test_a_slow_precision_gives_a_warning(
    precision: str,
    fast: bool,
    warned: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(device, "has_fast_bf16", lambda device: fast)
    load_trained(folder, CPU).freeze(precision)
    assert capsys.readouterr().err.count("many times slower in precision bf16") == warned


@contextmanager
def without_privileges() -> Iterator[None]:
    """A context in which files that permit nothing cannot be read, not even by root."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_others_may_read_a_model_if_the_umask_lets_them(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        save_model(tiny_model(dtype=torch.float32), tmp_path / "model.safetensors")
    finally:
        os.umask(before)
    assert (tmp_path / "model.safetensors").stat().st_mode & 0o777 == 0o640


def test_a_model_that_may_not_be_read_is_not_called_missing(folder: Path) -> None:
    (folder / "model.safetensors").chmod(0)
    with without_privileges(), pytest.raises(PermissionError) as caught:
        load_model(folder / "model.safetensors", CPU)
    assert caught.value.filename == str(folder / "model.safetensors")


def test_a_folder_whose_name_is_not_utf8_is_called_so(folder: Path) -> None:
    odd = folder.rename(folder.with_name(os.fsdecode(b"m\xff")))
    with pytest.raises(UserError, match="the name is not UTF-8, as it must be; rename the folder"):
        load_trained(odd)
    with pytest.raises(UserError, match="the name is not UTF-8, as it must be; name another folder"):
        check_output(odd)


def test_a_model_survives_its_file(tmp_path: Path) -> None:
    model = tiny_model(dtype=torch.float32)
    model.updates = 7
    save_model(model, tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors")
    assert again.updates == 7
    assert again.architecture == model.architecture
    torch.testing.assert_close(again(*ragged_batch()), model(*ragged_batch()))


def test_weights_and_words_are_of_one_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A training may replace the model while another program loads it."""

    def then_replaced(path: Path, device: str) -> Any:
        model = load_model(path, device)
        summary = json.loads((folder / "summary.json").read_text())
        (folder / "summary.json").write_text(json.dumps({**summary, "seconds": 1}))
        return model

    monkeypatch.setattr("nmt.trained.load_model", then_replaced)
    with pytest.raises(UserError, match="replaced while it was read; run the command again"):
        load_trained(folder)


def test_a_file_that_is_overwritten_does_not_change_a_model_in_use(folder: Path) -> None:
    """As `cp` does, while `nmt serve` runs."""
    model = load_model(folder / "model.safetensors")
    with open(folder / "model.safetensors", "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        file.write(bytes(size))
    weights = tiny_model(dtype=torch.float32).state_dict()
    assert all(torch.equal(weight, weights[name]) for name, weight in model.state_dict().items())


def test_a_broken_model_file_is_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    with pytest.raises(UserError, match="no such model"):
        load_model(path)
    save_model(tiny_model(dtype=torch.float32), path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UserError, match="not a whole model"):
        load_model(path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(UserError, match="not a whole model"):
        load_model(path)
