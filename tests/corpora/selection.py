"""A small text to select from, and the four steps that do it, shared by their tests."""

from __future__ import annotations

import csv
import json
import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from nmt.__main__ import main

Pairs = list[tuple[str, str]]

NEWS = [
    "minister",
    "said",
    "the",
    "new",
    "government",
    "will",
    "vote",
    "on",
    "reform",
    "today",
    "after",
    "long",
    "talks",
    "with",
    "unions",
]
LAW = [
    "pursuant",
    "to",
    "paragraph",
    "article",
    "section",
    "of",
    "this",
    "act",
    "shall",
    "apply",
    "where",
    "thereof",
    "regulation",
]
SIDES = ("source", "target")
LANGUAGES = ("en", "fr")


def sentences(words: list[str], number: int, seed: int) -> Pairs:
    """Different pairs made of `words`; in French each word has a suffix."""
    draw = random.Random(seed)
    lines = []
    for index in range(number):
        start = draw.randrange(len(words))
        chosen = [words[(start + step) % len(words)] for step in range(draw.randint(4, 9))] + [f"n{seed}-{index}"]
        lines.append((" ".join(chosen), " ".join(f"{word}e" for word in chosen)))
    return lines


def source_words(pairs: Pairs) -> int:
    return sum(len(source.split()) for source, _ in pairs)


def write_pairs(folder: Path, name: str, pairs: Pairs) -> list[str]:
    """Write two aligned files and return their paths."""
    paths = [folder / f"{name}.{language}" for language in LANGUAGES]
    for side, path in enumerate(paths):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs), newline="\n")
    return [str(path) for path in paths]


@dataclass
class Case:
    """The files and options of a selection: those of each step are in `folder`, the selected text in `folder`/out."""

    folder: Path
    lmplz: Path
    corpora: dict[str, Pairs]
    in_domain: Pairs
    held_out: Pairs = field(default_factory=list)
    shards: int = 1
    order: int = 4

    def parts(self) -> list[tuple[str, str, Pairs]]:
        """The corpus, name and pairs of each part."""
        found = []
        for corpus, pairs in self.corpora.items():
            for number in range(self.shards):
                ends = (len(pairs) * part // self.shards for part in (number, number + 1))
                found.append((corpus, f"{corpus}.{number + 1}-of-{self.shards}", pairs[slice(*ends)]))
        return found

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def text_flags(self) -> list[str]:
        parts = [part for _, part, _ in self.parts()]
        flags = ["--names", *(corpus for corpus, _, _ in self.parts())]
        for side, language in zip(SIDES, LANGUAGES, strict=True):
            flags += [f"--{side}s", *(self.path(f"{part}.{language}") for part in parts)]
        return [*flags, "--cleaned", *(self.path(f"{part}.npy") for part in parts)]

    def clean(self) -> int:
        """Write the texts and clean them."""
        held_out = write_pairs(self.folder, "held-out", self.held_out)
        codes = [0]
        for _, part, pairs in self.parts():
            command = ["clean", "--texts", *write_pairs(self.folder, part, pairs)]
            command += ["--held-out-sources", held_out[0], "--held-out-targets", held_out[1]]
            codes.append(main([*command, "--output", self.path(f"{part}.npy")]))
        return max(codes)

    def train_lm(self, **options: str) -> int:
        in_domain = write_pairs(self.folder, "news", self.in_domain)
        settings = json.dumps({"order": self.order})
        command = ["train_lm", "--lmplz", str(self.lmplz), *self.text_flags(), "--settings", settings, "--seed", "1"]
        command += ["--in-domain-sources", in_domain[0], "--in-domain-targets", in_domain[1]]
        command += ["--output", self.path("models")]
        for option, value in options.items():
            command += [f"--{option}", value]
        return main(command)

    def score_pairs(self) -> int:
        codes = [0]
        for _, part, _ in self.parts():
            texts = [self.path(f"{part}.{language}") for language in LANGUAGES]
            command = ["score_pairs", "--texts", *texts, "--models", self.path("models")]
            codes.append(main([*command, "--output", self.path(f"{part}.ratings.npy")]))
        return max(codes)

    def prepare(self) -> None:
        """Run all steps before select."""
        assert (self.clean(), self.train_lm(), self.score_pairs()) == (0, 0, 0)

    def select(self, seed: int = 1, **settings: object) -> int:
        """Select by `settings`; the rule `all` is given no ratings."""
        command = ["select", *self.text_flags(), "--settings", json.dumps(settings), "--seed", str(seed)]
        command += ["--outputs", *(self.path(f"out/train.{language}") for language in LANGUAGES)]
        command += ["--audit", self.path("out/audit.csv")]
        if settings.get("rule") != "all":
            command += ["--ratings", *(self.path(f"{part}.ratings.npy") for _, part, _ in self.parts())]
            command += ["--examples", self.path("out/examples.tsv"), "--distribution", self.path("out/ratings.csv")]
        return main(command)

    def kept(self) -> Pairs:
        texts = [(self.folder / f"out/train.{language}").read_text() for language in LANGUAGES]
        return list(zip(*(text.split("\n")[:-1] for text in texts), strict=True))

    def audit(self) -> dict[str, dict[str, str]]:
        return {row["corpus"]: row for row in self.table("audit.csv")}

    def table(self, name: str) -> list[dict[str, str]]:
        with open(self.folder / "out" / name, newline="") as file:
            delimiter = "\t" if name.endswith(".tsv") else ","
            return list(csv.DictReader(file, delimiter=delimiter, quoting=csv.QUOTE_NONE))

    def files(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "out").glob("*"))


def make_case(folder: Path, lmplz: Path) -> Case:
    """News among laws in one corpus, laws alone in another, selected towards news."""
    mixed = sentences(NEWS, 150, 1) + sentences(LAW, 150, 2)
    random.Random(3).shuffle(mixed)
    return Case(folder, lmplz, {"web": mixed, "acts": sentences(LAW, 200, 4)}, sentences(NEWS, 300, 5))


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The last line on standard error."""
    return capsys.readouterr().err.strip().split("\n")[-1]
