"""The step nll: the log-probabilities that the search computes, averaged over sentences."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from nmt.__main__ import main
from nmt.corpora.shortlist import EOS, Shortlist
from nmt.model.network import Network
from nmt.training import likelihood, nll
from nmt.training.batches import Batches
from tests.model.models import SOURCE_SYMBOLS, TARGET_SYMBOLS, save_trained, tiny_model

PAIRS = [(5, 2), (1, 7), (0, 3), (4, 4), (2, 0), (9, 1), (3, 5), (2, 2)]
WHOLE = [pair for pair in PAIRS if all(pair)]


@pytest.fixture
def model() -> Network:
    return tiny_model(dtype=torch.float32).eval()


@pytest.fixture
def folder(tmp_path: Path, model: Network) -> Path:
    """A random model, its shortlists, and pairs of `PAIRS` words a side, some of them unknown, two sides empty."""
    save_trained(tmp_path / "model", model)
    random = np.random.default_rng(3)
    for side, (name, symbols) in enumerate((("source", SOURCE_SYMBOLS), ("target", TARGET_SYMBOLS))):
        words = [f"{name[0]}{number}" for number in range(symbols)]
        lines = [" ".join(words[number] for number in random.integers(1, symbols, pair[side])) for pair in PAIRS]
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def step(folder: Path, *more: str) -> int:
    flags: list[Any] = ["--model", folder / "model", "--output", folder / "nll.json", "--device", "cpu"]
    flags += ["--texts", *(folder / f"{side}.txt" for side in ("source", "target"))]
    return main(["nll", *map(str, flags), *more])


def by_hand(model: Network, source: list[int], target: list[int]) -> float:
    """-log p(target | source), word by word as in the search."""
    with torch.no_grad():
        memory = model.encode(torch.tensor([[*source, EOS]]), torch.ones(1, len(source) + 1, dtype=torch.bool))
        state, previous, total = model.initial_state(memory), None, 0.0
        for number in [*target, EOS]:
            prediction = model.predict(memory, state, previous)
            total -= prediction.log_probabilities[0, number].item()
            previous = torch.tensor([number])
            state = model.advance(prediction.carry, previous)
    return total


@pytest.mark.parametrize("batch", [1, 3, 80])
def test_mean_of_the_sentences_with_their_ends_and_unknown_words(
    folder: Path, model: Network, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likelihood, "BATCH", batch)
    assert step(folder) == 0
    shortlists = [Shortlist.read(folder / f"model/{side}.tsv") for side in ("source", "target")]
    sides = [(folder / f"{side}.txt").read_text().split("\n")[:-1] for side in ("source", "target")]
    pairs = [
        [shortlist.ids(line.split()) for shortlist, line in zip(shortlists, pair, strict=True)]
        for pair in zip(*sides, strict=True)
        if all(pair)
    ]
    figures = json.loads((folder / "nll.json").read_text())
    expected = [by_hand(model, source, target) for source, target in pairs]
    assert figures["per_sentence"] == pytest.approx(expected, rel=1e-5)
    assert figures["nll"] == pytest.approx(np.mean(expected), rel=1e-5)
    assert figures["pairs"] == figures["short_pairs"] == figures["sentences"] == len(WHOLE)
    assert figures["words"] == sum(target + 1 for _, target in WHOLE)


def test_a_sample_is_drawn_by_the_seed(folder: Path) -> None:
    def drawn(size: int, seed: int) -> list[float]:
        assert step(folder, "--sample", str(size), "--seed", str(seed)) == 0
        return json.loads((folder / "nll.json").read_text())["per_sentence"]

    everything = drawn(1000, 1)
    assert len(everything) == len(WHOLE)
    samples = {tuple(drawn(3, seed)) for seed in range(6)}
    assert len(samples) > 1
    for sample in samples:
        assert len(set(sample)) == 3
        assert all(min(abs(one - other) for other in everything) < 1e-4 for one in sample)
    assert drawn(3, 5) == drawn(3, 5)


def test_only_the_pairs_that_a_training_takes_are_scored(folder: Path) -> None:
    """Both sides count, without the end of the sentence, as for the training itself."""
    assert step(folder) == 0
    everything = json.loads((folder / "nll.json").read_text())["per_sentence"]
    lengths = [np.array(side) for side in zip(*WHOLE, strict=True)]
    taken = Batches(SimpleNamespace(source_lengths=lengths[0], target_lengths=lengths[1]), 4, 1, 1).pairs
    assert [WHOLE[pair] for pair in taken] == [(4, 4), (2, 2)]
    assert step(folder, "--maximum-length", "4", "--sample", "3", "--seed", "1") == 0
    figures = json.loads((folder / "nll.json").read_text())
    assert (figures["pairs"], figures["short_pairs"], figures["sentences"]) == (len(WHOLE), 2, 2)
    assert figures["per_sentence"] == pytest.approx([everything[pair] for pair in taken], rel=1e-5)
    assert figures["nll"] == pytest.approx(np.mean([everything[pair] for pair in taken]), rel=1e-5)
    assert step(folder, "--maximum-length", "5", "--sample", "2", "--seed", "1") == 0
    figures = json.loads((folder / "nll.json").read_text())
    assert (figures["short_pairs"], figures["sentences"]) == (4, 2)


def test_long_pairs_are_cut(
    folder: Path, model: Network, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that are scored; which are short enough is decided before."""
    monkeypatch.setattr(nll, "LONGEST", 3)
    (folder / "source.txt").write_text("s2 s3 s4 s5\ns6\ns7 s8\n")
    (folder / "target.txt").write_text("t2\n" + "t3 " * 9 + "\nt4\n")
    assert step(folder, "--maximum-length", "8") == 0
    figures = json.loads((folder / "nll.json").read_text())
    expected = [by_hand(model, [2, 3, 4], [2]), by_hand(model, [7, 8], [4])]
    assert figures["per_sentence"] == pytest.approx(expected, rel=1e-5)
    assert (figures["pairs"], figures["short_pairs"], figures["words"]) == (3, 2, 4)
    said = f"nmt: warning: {folder}/source.txt: only the first 3 words per side are used, in 1 of the pairs\n"
    assert capsys.readouterr().err == said


def test_a_training_text_takes_few_bytes_a_word(folder: Path) -> None:
    """The paper's has 700 million; in lists they would take 50 GB."""
    pairs, words = 10_000, 50
    for name in ("source", "target"):
        (folder / f"{name}.txt").write_text((f"{name[0]}2 " * words + "\n") * pairs)
    tracemalloc.start()
    try:
        assert step(folder, "--sample", "2", "--seed", "1") == 0
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * 2 * pairs * words


def test_no_pair_that_is_short_enough(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert step(folder, "--maximum-length", "1") == 1
    error = f"nmt nll: {folder}/source.txt: no pair has at most 1 words per side; raise --maximum-length\n"
    assert capsys.readouterr().err == error


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sample", "3"], "--seed: missing; a sample needs one"),
        (["--sample", "0", "--seed", "1"], "--sample 0: must be 1 or more"),
        (["--sample", "-1", "--seed", "1"], "--sample -1: must not be negative"),
        (["--sample", "3", "--seed", "1" * 30], f"--seed {'1' * 30}: must be below 1000000000000000"),
    ],
)
def test_a_sample_that_cannot_be_drawn_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert step(folder, *options) == 1
    assert capsys.readouterr().err == f"nmt nll: {said}\n"


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda folder: (folder / "model/model.safetensors").unlink(), ["model.safetensors"]),
        (lambda folder: (folder / "target.txt").write_text("t2\n" * 5), ["8 lines", "5"]),
        (lambda folder: [(folder / f"{side}.txt").write_text("\n\n") for side in ("source", "target")], ["source.txt"]),
        (lambda folder: (folder / "target.txt").write_bytes(b"\xff\n" * 8), ["target.txt"]),
        (lambda folder: (folder / "model/target.tsv").unlink(), ["target.tsv"]),
    ],
    ids=["no model", "unequal", "nothing to score", "not UTF-8", "no shortlist"],
)
def test_a_mistake_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str], spoil: Any, named: list[str]) -> None:
    spoil(folder)
    capsys.readouterr()
    assert step(folder) == 1
    error = capsys.readouterr().err
    assert error.startswith("nmt nll: ")
    assert error.count("\n") == 1
    assert all(word in error for word in named)
    assert not (folder / "nll.json").exists()
