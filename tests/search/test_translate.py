"""The step translate: lines keep their places, and a user's mistakes get one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.__main__ import main
from nmt.corpora.shortlist import Shortlist
from nmt.model.network import load_model, save_model
from nmt.search import translate
from nmt.search.beam import BeamSettings, search
from tests.model.models import SOURCE_SYMBOLS, TARGET_SYMBOLS, tiny_model

LINES = ["s4 s2 s9", "", "s3", "s2 s2 s10 strange s3 s5", "s7 s8", "  ", "s5\u2028x s6"]


def make_shortlist(path: Path, letter: str, symbols: int) -> None:
    words = ["<eos>", "<unk>", *(f"{letter}{number}" for number in range(2, symbols))]
    Shortlist(tuple(words), (1,) * symbols).write(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A random model that ends its sentences, its shortlists, and a source text with empty lines."""
    save(tmp_path, context="attention")
    make_shortlist(tmp_path / "source.tsv", "s", SOURCE_SYMBOLS)
    make_shortlist(tmp_path / "target.tsv", "t", TARGET_SYMBOLS)
    (tmp_path / "source.txt").write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return tmp_path


def save(folder: Path, raised: int = 0, **settings: Any) -> None:
    """Write a random model in which symbol `raised` is more probable than its weights would have it."""
    model = tiny_model(dtype=torch.float32, **settings)
    with torch.no_grad():
        model.readout.b_o[raised] += 6
    save_model(model, folder / "model.safetensors")


def step(folder: Path, *more: str) -> int:
    flags = ["--model", "model.safetensors", "--source", "source.txt", "--output", "out/translation.txt"]
    flags += ["--scores", "out/scores.tsv", "--alignments", "out/alignments.jsonl"]
    paths = [flag if flag.startswith("--") else str(folder / flag) for flag in flags]
    shortlists = [str(folder / "source.tsv"), str(folder / "target.tsv")]
    return main(["translate", *paths, "--shortlists", *shortlists, "--beam", "4", "--device", "cpu", *more])


def lines_of(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return text[:-1].split("\n")


@pytest.mark.parametrize("batch", ["1", "2", "32"])
def test_every_line_has_its_own_translation(folder: Path, batch: str) -> None:
    assert step(folder, "--batch", batch) == 0
    source, target = (Shortlist.read(folder / f"{side}.tsv") for side in ("source", "target"))
    model = load_model(folder / "model.safetensors", "cpu")
    translations, scores = lines_of(folder / "out/translation.txt"), lines_of(folder / "out/scores.tsv")
    assert len(translations) == len(LINES)
    assert scores[0] == "log_probability\twords"
    assert len(scores) == len(LINES) + 1
    for line, translation, score in zip(LINES, translations, scores[1:], strict=True):
        words = [word for word in line.split(" ") if word]
        if not words:
            assert translation == ""
            continue
        best = search(model, [source.ids(words)], BeamSettings(4))[0][0]
        assert translation == " ".join(target.words(best.words))
        assert float(score.split("\t")[0]) == pytest.approx(best.log_probability, abs=1e-5)
    assert len(set(translations)) > 2  # or the order would not show


def test_alignments_are_distributions_over_the_source_words(folder: Path) -> None:
    assert step(folder) == 0
    records = {record["line"]: record for record in map(json.loads, lines_of(folder / "out/alignments.jsonl"))}
    translations = lines_of(folder / "out/translation.txt")
    assert sorted(records) == [number for number, line in enumerate(LINES) if line.strip()]
    for number, record in records.items():
        assert record["source"] == [*LINES[number].split(" "), "<eos>"]
        assert record["target"] == [*translations[number].split(), "<eos>"]
        assert len(record["weights"]) == len(record["target"])
        for row in record["weights"]:
            assert len(row) == len(record["source"])
            assert sum(row) == pytest.approx(1, abs=1e-3)


def test_a_fixed_context_has_no_alignment(folder: Path) -> None:
    save(folder, context="fixed")
    assert step(folder) == 0
    assert all(json.loads(line)["weights"] is None for line in lines_of(folder / "out/alignments.jsonl"))


def test_the_unknown_word_reads_unk_unless_forbidden(folder: Path) -> None:
    save(folder, raised=1)
    assert step(folder) == 0
    assert "UNK" in (folder / "out/translation.txt").read_text().split()
    assert step(folder, "--forbid-unk") == 0
    assert "UNK" not in (folder / "out/translation.txt").read_text().split()


def test_a_line_of_a_hundred_thousand_words_is_cut(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(translate, "LONGEST", 20)
    (folder / "source.txt").write_text("s3 s4\n" + "s2 " * 100_000 + "\ns5\n")
    assert step(folder) == 0
    assert "line 2 has 100000 words" in capsys.readouterr().err
    assert len(lines_of(folder / "out/translation.txt")) == 3
    cut = json.loads(lines_of(folder / "out/alignments.jsonl")[1])
    assert len(cut["source"]) == 21


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda folder: (folder / "model.safetensors").unlink(), "model.safetensors"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"not a model"), "model.safetensors"),
        (lambda folder: make_shortlist(folder / "target.tsv", "t", TARGET_SYMBOLS + 1), "target.tsv"),
        (lambda folder: (folder / "source.tsv").unlink(), "source.tsv"),
        (lambda folder: (folder / "source.txt").unlink(), "source.txt"),
        (lambda folder: (folder / "source.txt").write_bytes(b"s2\ns3 \xff\n"), "source.txt"),
        (lambda folder: (folder / "source.txt").write_bytes(b""), "source.txt"),
        (lambda folder: save(folder, raised=slice(None), initialization_scale=1e39), "model.safetensors"),
    ],
    ids=["no model", "broken model", "other shortlist", "no shortlist", "no source", "not UTF-8", "empty", "diverged"],
)
def test_a_mistake_is_said_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], spoil: Any, named: str
) -> None:
    spoil(folder)
    capsys.readouterr()
    assert step(folder) == 1
    error = capsys.readouterr().err
    assert error.startswith("nmt translate: ")
    assert error.count("\n") == 1
    assert named in error
    assert not (folder / "out").exists() or not list((folder / "out").iterdir())
