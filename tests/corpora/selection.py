"""A small text to select from, and the four steps that do it, as the tests of all of them share it."""

from __future__ import annotations

import csv
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
    """Pairs of the words, in French each word with a suffix; all are different."""
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
    """Two aligned files."""
    paths = [folder / f"{name}.{language}" for language in LANGUAGES]
    for side, path in enumerate(paths):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs), newline="\n")
    return [str(path) for path in paths]


@dataclass
class Case:
    """Files and flags of one selection; each step's files lie in `folder`, what is selected in `folder`/out."""

    folder: Path
    lmplz: Path
    corpora: dict[str, Pairs]
    in_domain: Pairs
    held_out: Pairs = field(default_factory=list)
    shards: int = 1
    order: str = "4"

    def parts(self) -> list[tuple[str, str, Pairs]]:
        """Corpus, part and pairs of each part."""
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
        return [*flags, "--surveys", *(self.path(f"{part}.survey.npy") for part in parts)]

    def survey(self) -> int:
        """Write the texts and survey them."""
        held_out = write_pairs(self.folder, "held-out", self.held_out)
        codes = [0]
        for _, part, pairs in self.parts():
            command = ["survey", "--texts", *write_pairs(self.folder, part, pairs)]
            command += ["--held-out-sources", held_out[0], "--held-out-targets", held_out[1]]
            codes.append(main([*command, "--output", self.path(f"{part}.survey.npy")]))
        return max(codes)

    def estimate(self, **flags: str) -> int:
        in_domain = write_pairs(self.folder, "news", self.in_domain)
        command = ["estimate", "--lmplz", str(self.lmplz), *self.text_flags(), "--order", self.order, "--seed", "1"]
        command += ["--in-domain-sources", in_domain[0], "--in-domain-targets", in_domain[1]]
        command += ["--output", self.path("models")]
        for flag, value in flags.items():
            command += [f"--{flag}", value]
        return main(command)

    def rate(self) -> int:
        codes = [0]
        for _, part, _ in self.parts():
            texts = [self.path(f"{part}.{language}") for language in LANGUAGES]
            command = ["rate", "--texts", *texts, "--models", self.path("models")]
            codes.append(main([*command, "--output", self.path(f"{part}.ratings.npy")]))
        return max(codes)

    def prepare(self) -> None:
        """All steps before select."""
        assert (self.survey(), self.estimate(), self.rate()) == (0, 0, 0)

    def select(self, *flags: str) -> int:
        parts = [part for _, part, _ in self.parts()]
        command = ["select", *self.text_flags(), "--ratings", *(self.path(f"{part}.ratings.npy") for part in parts)]
        command += ["--outputs", *(self.path(f"out/train.{language}") for language in LANGUAGES)]
        command += ["--audit", self.path("out/audit.csv"), "--examples", self.path("out/examples.tsv")]
        return main([*command, "--distribution", self.path("out/ratings.csv"), "--seed", "1", *flags])

    def kept(self) -> Pairs:
        texts = [(self.folder / f"out/train.{language}").read_text() for language in LANGUAGES]
        return list(zip(*(text.split("\n")[:-1] for text in texts), strict=True))

    def audit(self) -> dict[str, dict[str, str]]:
        return {row["corpus"]: row for row in self.table("audit.csv")}

    def table(self, name: str) -> list[dict[str, str]]:
        with open(self.folder / "out" / name, newline="") as file:
            delimiter = "\t" if name.endswith(".tsv") else ","
            return list(csv.DictReader(file, delimiter=delimiter, quoting=csv.QUOTE_NONE))

    def left(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "out").glob("*"))


def make_case(folder: Path, lmplz: Path) -> Case:
    """News among laws in one corpus, laws alone in another, selected towards news."""
    mixed = sentences(NEWS, 150, 1) + sentences(LAW, 150, 2)
    random.Random(3).shuffle(mixed)
    return Case(folder, lmplz, {"web": mixed, "acts": sentences(LAW, 200, 4)}, sentences(NEWS, 300, 5))


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The last line on standard error."""
    return capsys.readouterr().err.strip().split("\n")[-1]
