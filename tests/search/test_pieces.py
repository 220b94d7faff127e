"""A model of SentencePiece's pieces, from the text to what its users see, into a language without spaces."""

from __future__ import annotations

import csv
import json
import shutil
import unicodedata
from pathlib import Path

import numpy as np
import pytest

import nmt
from nmt.report.serve import Service
from nmt.search.translator import Translator
from nmt.trained import load_trained
from tests.search.test_subwords import step
from tests.training.toy import tiny_variant

LANGUAGES = ("fr", "th")
LINES = ["L’été, « oui » !", "", "\ufeffelle▁ a  lu", "\u200b", "ça 東"]
WORDS = {
    "fr": ["elle", "il", "a", "lu", "vu", "été", "l’eau", "d’où", "oui,", "non"],
    "th": ["บ้าน", "เก่า", "อยู่", "บน", "เนิน", "เขา", "สวย"],
}
SIZE = '{"symbols": 320}'


def both(folder: Path, stem: str) -> list[Path]:
    return [folder / f"{stem}.{language}" for language in LANGUAGES]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model of pieces, and of all that it is made from."""
    folder = tmp_path_factory.mktemp("pieces")
    random = np.random.default_rng(3)
    for stem, count in (("train", 300), ("development", 10)):
        lengths = random.integers(1, 5, count)
        for path, language, space in zip(both(folder, stem), LANGUAGES, (" ", ""), strict=True):
            lines = [space.join(random.choice(WORDS[language], length)) for length in lengths]
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for language in LANGUAGES:
        text, codes, segmented = (folder / f"{name}.{language}" for name in ("train", "codes", "segmented"))
        step("learn_pieces", "--inputs", text, "--settings", SIZE, "--seed", 1, "--output", codes)
        step("segment", "--input", text, "--codes", codes, "--output", segmented)
        step("shortlist", "--input", segmented, "--pieces", codes, "--output", folder / f"shortlist.{language}")
    texts, shortlists = both(folder, "segmented"), both(folder, "shortlist")
    step("binarize", "--texts", *texts, "--shortlists", *shortlists, "--seed", 1, "--output", folder / "binarized")
    train(folder, folder)
    return folder


def train(folder: Path, output: Path, *others: object) -> None:
    """Train a model of the text in `folder`, or find it trained."""
    variant = tiny_variant(
        updates=100, batch=20, evaluate_every=50, device="cpu", optimizer="adam", learning_rate=0.03, stop_on="bleu"
    )
    step(
        *("train", "--settings", variant.to_json(), "--data", folder / "binarized", "--threads", 1),
        *("--development", *both(folder, "development"), "--shortlists", *both(folder, "shortlist")),
        *("--codes", *both(folder, "codes"), "--languages", *LANGUAGES),
        *("--checkpoints", output / "checkpoints", "--output", output / "model", *others),
    )


def test_translations_are_running_text(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    words = ["--model", folder / "model", "--source", tmp_path / "text", "--beam", 2, "--device", "cpu"]
    outputs = [
        "--output",
        tmp_path / "output",
        "--symbols",
        tmp_path / "symbols",
        "--alignments",
        tmp_path / "alignments",
    ]
    step("translate", *words, "--no-fallback", *outputs)
    translations = (tmp_path / "output").read_text(encoding="utf-8").split("\n")
    symbols = [line.split() for line in (tmp_path / "symbols").read_text(encoding="utf-8").split("\n")]
    join = load_trained(folder / "model").target.join
    assert [" ".join(join(line)) for line in symbols] == translations
    records = [json.loads(line) for line in (tmp_path / "alignments").read_text(encoding="utf-8").split("\n")[:-1]]
    assert [record["line"] for record in records] == [0, 2, 4]  # nothing can be seen in the others
    for record in records:
        assert record["source"] == [*LINES[record["line"]].replace("\ufeff", "").split(), "<eos>"]  # words
        assert [piece for piece in record["target"] if piece != "<eos>"] == symbols[record["line"]]  # pieces
        assert np.shape(record["weights"]) == (len(record["target"]), len(record["source"]))
        assert np.allclose(np.sum(record["weights"], axis=1), 1, atol=1e-3)


def test_a_decomposed_text_is_the_same_text(folder: Path) -> None:
    model = nmt.load(folder / "model")
    composed, other = ([unicodedata.normalize(form, LINES[0])] for form in ("NFC", "NFD"))
    assert composed != other
    [[first]], [[second]] = (model.search(text, beam=2) for text in (composed, other))
    assert first.log_probability == second.log_probability
    assert first.source == ["L’été,", "«", "oui", "»", "!", "<eos>"]


def test_tokenized_text_is_the_same_as_running_text(folder: Path) -> None:
    one, other = (nmt.load(folder / "model", tokenized=tokenized) for tokenized in (False, True))
    assert one.translate(["elle\u00a0a\tlu"]) == other.translate(["elle a lu"])


def test_a_page_is_typed_in_words_and_answers_in_pieces(folder: Path) -> None:
    trained = load_trained(folder / "model")
    answer = Service(Translator(trained, tokenized=False), 2, 1).translate("▁ elle ▁ a", lambda _: None)
    assert answer["source"] == "▁ elle ▁ a"
    assert not answer["translations"][0]["text"].startswith("▁")


def test_scores_are_of_pieces(folder: Path, tmp_path: Path) -> None:
    source, target = (tmp_path / language for language in LANGUAGES)
    source.write_text("elle a lu\n")
    target.write_text("บ้านเก่า\n", encoding="utf-8")
    model = ["--model", folder / "model", "--device", "cpu"]
    step("score", source, target, *model, "--output", tmp_path / "scores")
    step("align", source, target, *model, "--table", tmp_path / "table")
    [score] = csv.DictReader((tmp_path / "scores").read_text().split("\n"), delimiter="\t")
    symbols = load_trained(folder / "model").target.split(["บ้านเก่า"])
    assert int(score["words"]) == len(symbols) + 1
    table = csv.DictReader((tmp_path / "table").read_text(encoding="utf-8").split("\n"))
    assert list(dict.fromkeys(row["target_word"] for row in table)) == list(dict.fromkeys([*symbols, "<eos>"]))


def test_a_finished_model_is_called_by_other_languages(folder: Path, tmp_path: Path) -> None:
    """It is not trained again, and what it says of itself follows."""
    output = shutil.copytree(folder / "model", tmp_path / "model")
    before = (output / "model.safetensors").read_bytes()
    train(folder, tmp_path, "--normalize", "none", "--languages", "fr", "tha")
    assert (output / "model.safetensors").read_bytes() == before
    trained = load_trained(output)
    assert (trained.languages, trained.normalize) == (("fr", "tha"), "none")


def test_a_model_of_a_checkpoint_and_its_copy_keep_the_normalization(folder: Path, tmp_path: Path) -> None:
    train(folder, tmp_path, "--normalize", "none", "--minutes", 1e-9)
    shutil.rmtree(tmp_path / "model")
    files = ["--shortlists", *both(folder, "shortlist"), "--codes", *both(folder, "codes")]
    checkpoints = ["--checkpoints", tmp_path / "checkpoints", "--languages", *LANGUAGES]
    step("export", *checkpoints, *files, "--output", tmp_path / "model")
    step("export", "--model", tmp_path / "model", "--output", tmp_path / "copy")
    assert load_trained(tmp_path / "model").normalize == load_trained(tmp_path / "copy").normalize == "none"


def test_the_development_score_is_of_running_text(folder: Path) -> None:
    """By characters, which give a score where words, of which there is one a line, would give none."""
    lines = map(json.loads, (folder / "model/metrics.jsonl").read_text().splitlines())
    scores = [line["development_bleu"] for line in lines if "development_bleu" in line]
    assert len(scores) == 2
    assert all(score > 0 for score in scores)
