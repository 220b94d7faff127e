"""A model of subwords, from the text to what its users see: they give and get words."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from nmt.__main__ import main
from nmt.corpora.subwords import MARK
from nmt.system.errors import UserError
from nmt.trained import load_trained
from tests.training.toy import tiny_variant

SIDES = ("source", "target")
LINES = ["kalo mitukalo", "", "lo@@ ka mi", "tu東ka"]


def step(name: str, *words: object) -> None:
    assert main([name, *map(str, words)]) == 0


def both(folder: Path, stem: str) -> list[Path]:
    return [folder / f"{stem}.{side}" for side in SIDES]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model of subwords, of words that are made of syllables, and of all that it is made from."""
    folder = tmp_path_factory.mktemp("subwords")
    random = np.random.default_rng(3)
    for stem, count in (("train", 300), ("development", 10)):
        lines = [
            " ".join("".join(random.choice(["ka", "lo", "mi", "tu"], random.integers(1, 4))) for _ in range(length))
            for length in random.integers(1, 5, count)
        ]
        for path, text in zip(both(folder, stem), (lines, map(str.upper, lines)), strict=True):
            path.write_text("".join(f"{line}\n" for line in text))
    for side in SIDES:
        text, codes, segmented = folder / f"train.{side}", folder / f"codes.{side}", folder / f"segmented.{side}"
        step("learn_bpe", "--inputs", text, "--settings", '{"symbols": 20}', "--output", codes)
        step("segment", "--input", text, "--codes", codes, "--output", segmented)
        shortlist = folder / f"shortlist.{side}"
        step("shortlist", "--input", segmented, "--settings", '{"size": 20}', "--output", shortlist)
    texts, shortlists = both(folder, "segmented"), both(folder, "shortlist")
    step("binarize", "--texts", *texts, "--shortlists", *shortlists, "--seed", 1, "--output", folder / "binarized")
    step("train", *training(folder), "--codes", *both(folder, "codes"))
    return folder


def training(folder: Path) -> list[object]:
    """The options of the training, but the codes."""
    variant = tiny_variant(updates=20, batch=20, sort_batches=4, evaluate_every=10, device="cpu", learning_rate=3.0)
    return [
        *("--settings", variant.to_json(), "--data", folder / "binarized", "--threads", 1),
        *("--development", *both(folder, "development"), "--shortlists", *both(folder, "shortlist")),
        *("--languages", "xa", "xb", "--checkpoints", folder / "checkpoints", "--output", folder / "model"),
    ]


def test_the_folder_of_the_model_holds_its_codes(folder: Path) -> None:
    for side, codes in zip(SIDES, both(folder, "codes"), strict=True):
        assert (folder / "model" / f"{side}.codes").read_bytes() == codes.read_bytes()
    trained = load_trained(folder / "model")
    assert any(symbol.endswith(MARK) for symbol in trained.source.symbols)
    assert trained.source.split(["mitukalo"]) != ["mitukalo"]


def test_translations_are_words(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in LINES))
    words = ["--model", folder / "model", "--tokenized", "--source", tmp_path / "text", "--beam", 2, "--device", "cpu"]
    outputs = ["--output", tmp_path / "output", "--symbols", tmp_path / "symbols"]
    outputs += ["--alignments", tmp_path / "alignments", "--replace-unk"]
    step("translate", *words, "--no-fallback", *outputs)
    assert "1 words were dropped that end in @@" in capsys.readouterr().err
    translations = (tmp_path / "output").read_text().split("\n")
    assert len(translations) == len(LINES) + 1
    assert MARK not in " ".join(translations)
    symbols = [line.split() for line in (tmp_path / "symbols").read_text().split("\n")]
    join = load_trained(folder / "model").target.join
    assert [" ".join(join(line)) for line in symbols] == translations
    assert sum(map(len, symbols)) > sum(len(line.split()) for line in translations)
    records = [json.loads(line) for line in (tmp_path / "alignments").read_text().split("\n")[:-1]]
    assert [record["line"] for record in records] == [0, 2, 3]
    for record in records:
        assert record["source"] == [*LINES[record["line"]].split(" "), "<eos>"]
        assert " ".join(word for word in record["target"] if word != "<eos>") == translations[record["line"]]
        assert np.shape(record["weights"]) == (len(record["target"]), len(record["source"]))
        assert np.allclose(np.sum(record["weights"], axis=1), 1, atol=1e-3)
    assert [row[0] for row in records[1]["weights"]] == [0] * len(records[1]["target"])  # the word that was dropped


def test_only_lines_of_known_subwords_are_translated(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("kalo\ntu東ka\nkalo\n")
    (tmp_path / "reference").write_text("KALO\nTUKA\nK東\n")
    words = ["--model", folder / "model", "--tokenized", "--source", tmp_path / "text", "--device", "cpu"]
    scores = tmp_path / "scores"
    step("translate", *words, "--only-known", tmp_path / "reference", "--scores", scores, "--output", tmp_path / "out")
    found = [row["words"] for row in csv.DictReader(scores.read_text().split("\n"), delimiter="\t")]
    assert [words != "0" for words in found] == [True, False, False]


def test_scores_and_likelihoods_are_of_subwords(folder: Path, tmp_path: Path) -> None:
    source, target = (tmp_path / side for side in SIDES)
    source.write_text("kalo mitukalo\n")
    target.write_text("KALO MITUKALO\n")
    model = ["--model", folder / "model", "--device", "cpu"]
    step("score", source, target, "--tokenized", *model, "--output", tmp_path / "scores")
    step("nll", "--texts", source, target, *model, "--output", tmp_path / "nll")
    step("align", source, target, "--tokenized", *model, "--table", tmp_path / "table")
    [score] = csv.DictReader((tmp_path / "scores").read_text().split("\n"), delimiter="\t")
    nll = json.loads((tmp_path / "nll").read_text())
    symbols = load_trained(folder / "model").target.split(["KALO", "MITUKALO"])
    assert int(score["words"]) == nll["words"] == len(symbols) + 1
    assert float(score["log_probability"]) == pytest.approx(-nll["nll"], abs=1e-5)
    shown = [row["target_word"] for row in csv.DictReader((tmp_path / "table").read_text().split("\n"))]
    assert list(dict.fromkeys(shown)) == list(dict.fromkeys([*symbols, "<eos>"]))


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda model: (model / "source.codes").unlink(), "source.codes: no such file"),
        (
            lambda model: shutil.copy(model / "source.codes", model / "target.codes"),
            "target.codes: damaged or replaced",
        ),
        (lambda model: shutil.copy(model / "source.tsv", model / "target.tsv"), "target.tsv: damaged or replaced"),
    ],
)
def test_codes_that_are_not_the_models(folder: Path, tmp_path: Path, spoil: object, named: str) -> None:
    model = shutil.copytree(folder / "model", tmp_path / "model")
    spoil(model)  # type: ignore[operator]
    with pytest.raises(UserError, match=named):
        load_trained(model)


@pytest.mark.parametrize(
    ("codes", "named"),
    [
        (["codes.target", "codes.source"], "codes.target: not the codes of this vocabulary"),
        (["codes.source"], "--codes: 1 files; name those of both sides"),
    ],
)
def test_codes_that_are_not_the_vocabularies(
    folder: Path, capsys: pytest.CaptureFixture[str], codes: list[str], named: str
) -> None:
    assert main(["train", *map(str, [*training(folder), "--codes", *(folder / name for name in codes)])]) == 1
    assert named in capsys.readouterr().err


def test_a_model_of_words_leaves_no_codes_behind(folder: Path, tmp_path: Path) -> None:
    model = shutil.copytree(folder / "model", tmp_path / "model")
    for side in SIDES:
        shutil.copy(folder / f"development.{side}", tmp_path)
        settings, shortlist = '{"size": 20}', tmp_path / f"shortlist.{side}"
        step("shortlist", "--input", folder / f"train.{side}", "--settings", settings, "--output", shortlist)
    texts, shortlists = both(folder, "train"), both(tmp_path, "shortlist")
    step("binarize", "--texts", *texts, "--shortlists", *shortlists, "--seed", 1, "--output", tmp_path / "binarized")
    step("train", *training(tmp_path))
    assert not (model / "source.codes").exists()
    shutil.copy(folder / "codes.source", model / "source.codes")
    with pytest.raises(UserError, match=r"source.codes: not of this model, which is one of words"):
        load_trained(model)
