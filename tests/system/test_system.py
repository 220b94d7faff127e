"""A small RNNsearch must learn the demonstration's language, whatever the seed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import sacrebleu

from nmt.__main__ import main
from nmt.toy.grammar import Grammar
from tests.model.models import tiny_variant

SIDES = ("en", "fr")
PAIRS = {"train": 20_000, "development": 100, "test": 200}
LONGEST = 14  # words, approximately
BLEU = 40.0


def step(*words: object) -> None:
    assert main([str(word) for word in words]) == 0


def write_text(folder: Path, seed: int) -> None:
    """Write tokenized sentence pairs of the language; no English sentence occurs twice."""
    grammar = Grammar(f"system {seed}")
    lengths = random.Random(seed)
    seen: dict[str, str] = {}
    while len(seen) < sum(PAIRS.values()):
        english, french = grammar.sentence("news", lengths.randint(3, LONGEST))
        seen.setdefault(english, french)
    pairs = iter(seen.items())
    for name, count in PAIRS.items():
        lines = zip(*(next(pairs) for _ in range(count)), strict=True)
        for language, side in zip(SIDES, lines, strict=True):
            raw, tokenized = folder / f"{name}.raw.{language}", folder / f"{name}.{language}"
            raw.write_text("".join(f"{line}\n" for line in side), encoding="utf-8", newline="\n")
            step("tokenize", "--language", language, "--input", raw, "--output", tokenized)


@pytest.mark.long
def test_the_demonstration_language_is_learned(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1_000_000)
    write_text(tmp_path, seed)
    texts = {name: [tmp_path / f"{name}.{language}" for language in SIDES] for name in PAIRS}
    shortlists = [tmp_path / f"shortlist.{language}" for language in SIDES]
    for text, shortlist in zip(texts["train"], shortlists, strict=True):
        step("shortlist", "--input", text, "--settings", '{"size": 1500}', "--output", shortlist)
    data, model, translation = tmp_path / "data", tmp_path / "model", tmp_path / "translation"
    step("binarize", "--texts", *texts["train"], "--shortlists", *shortlists, "--seed", seed, "--output", data)

    sizes = {"embedding": 64, "hidden": 96, "alignment": 64, "maxout": 64}
    settings = {"optimizer": "adam", "learning_rate": 0.006, "initialization_scale": 0.1, "attention_scale": 0.1}
    variant = tiny_variant(**sizes, **settings, updates=400, evaluate_every=200, seed=seed)
    files = ["--output", model, "--checkpoints", tmp_path / "checkpoints", "--data", data, "--shortlists", *shortlists]
    files += ["--languages", *SIDES]
    step("train", "--settings", variant.to_json(), "--development", *texts["development"], "--threads", 1, *files)

    files = ["--source", texts["test"][0], "--output", translation, "--scores", tmp_path / "scores"]
    step("translate", "--model", model, "--tokenized", "--beam", 5, "--threads", 1, *files)
    hypotheses, references = (
        path.read_text(encoding="utf-8").split("\n")[:-1] for path in (translation, texts["test"][1])
    )
    bleu = sacrebleu.corpus_bleu(hypotheses, [references], tokenize="none", force=True).score
    assert bleu > BLEU, f"seed {seed}: {bleu:.1f} BLEU"
