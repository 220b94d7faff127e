"""A phrase-based system trained on a few hundred pairs of the built-in language."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.toy.grammar import Grammar

PAIRS, DEVELOPMENT = 400, 40
LONGEST = 12
SEED = ["--seed", 1234]


def step(*words: object) -> None:
    assert main([str(word) for word in words]) == 0


def settings(**values: object) -> list[object]:
    """The option --settings."""
    return ["--settings", json.dumps(values)]


class System:
    """The folder of a system and the options that its later steps share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts = [folder / f"train.{language}" for language in ("en", "fr")]
        self.development = [folder / f"development.{language}" for language in ("en", "fr")]
        self.parts: list[object] = ["--direct", folder / "direct", "--inverse", folder / "inverse"]
        self.parts += ["--phrase-table", folder / "phrases.txt", "--language-model", folder / "language_model"]
        self.search: dict[str, object] = {"stack": 5, "distortion_limit": 0}
        self.parts += ["--threads", 2, *settings(**self.search)]

    def train(self) -> None:
        grammar, lengths = Grammar("phrases"), random.Random(1)
        pairs = [grammar.sentence("news", lengths.randint(3, LONGEST)) for _ in range(PAIRS + DEVELOPMENT)]
        for texts, part in ((self.texts, pairs[:PAIRS]), (self.development, pairs[PAIRS:])):
            for side, path in enumerate(texts):
                raw = path.with_suffix(f"{path.suffix}.raw")
                raw.write_text("".join(f"{pair[side]}\n" for pair in part), encoding="utf-8")
                step("tokenize", "--language", path.suffix[1:], "--input", raw, "--output", path)
        self.align()
        links = ["--direct", self.folder / "direct/links.txt", "--inverse", self.folder / "inverse/links.txt"]
        step("thot_symmetrize", *links, "--output", self.folder / "links.txt")
        table = self.folder / "phrases.txt"
        step(
            "thot_phrase_table", "--texts", *self.texts, "--links", self.folder / "links.txt", *SEED, "--output", table
        )
        texts = ["--texts", self.texts[1]]
        step("thot_language_model", *texts, *settings(order=3), "--output", self.folder / "language_model")

    def align(self) -> None:
        step("thot_word_align", "--texts", *self.texts, *SEED, "--output", self.folder / "direct")
        step("thot_word_align", "--texts", *self.texts, *SEED, "--inverse", "--output", self.folder / "inverse")


@pytest.fixture(scope="package")
def system(tmp_path_factory: pytest.TempPathFactory) -> System:
    """A system before tuning."""
    made = System(tmp_path_factory.mktemp("system"))
    made.train()
    return made
