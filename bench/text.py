"""Make parallel text of any size to measure the data stages: recombined real lines, or the built-in language.

Each pair consists of the first half of a random real pair and the second half of another, so that a text of any size
has the words, lengths and characters of real text and hardly any repetitions. The output folder gets `train.tgz`, with
`train.en` and `train.fr` inside, and the in-domain and held-out sets as plain text.
"""

from __future__ import annotations

import argparse
import lzma
import random
import tarfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from nmt.corpora.registry import read_registry
from nmt.toy.grammar import MAXIMUM_WORDS, Grammar

LANGUAGES = ("en", "fr")
REGISTRY = Path("data/open.tsv")
SETS = {"held-out": ("newstest2014",), "in-domain": ("newstest2012", "newstest2013")}
SET_PAIRS = 3000  # in a set of the built-in language
Pair = tuple[str, str]


def real_corpora(folder: Path, names: tuple[str, ...] = ()) -> list[tuple[Path, Path]]:
    """The archives below `folder` of the named corpora, or of all training corpora."""
    found = []
    for corpus in read_registry(REGISTRY).values():
        if corpus.name in names if names else corpus.role == "train":
            source, target = (folder / archive.path for archive in corpus.archives)
            if source.is_file() and target.is_file():
                found.append((source, target))
    return found


def real_pairs(folder: Path, names: tuple[str, ...] = ()) -> Iterator[Pair]:
    """Yield the pairs of `real_corpora`."""
    for paths in real_corpora(folder, names):
        yield from zip(*map(_lines, paths), strict=True)


def _lines(path: Path) -> Iterator[str]:
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.removesuffix("\n")


def recombined(pairs: list[Pair], seed: int) -> Iterator[Pair]:
    """Yield pairs endlessly, each with the first half of one of `pairs` and the second half of another."""
    draw = random.Random(seed)
    while True:
        first, second = draw.choice(pairs), draw.choice(pairs)
        source, target = (_joined(a.split(" "), b.split(" ")) for a, b in zip(first, second, strict=True))
        yield source, target


def _joined(first: list[str], second: list[str]) -> str:
    return " ".join(first[: (len(first) + 1) // 2] + second[(len(second) + 1) // 2 :])


def generated(seed: str) -> Iterator[Pair]:
    """Yield pairs of the built-in language endlessly, in all its styles."""
    grammar = Grammar(seed)
    while True:
        style = grammar.random.choice(("news", "speech", "instructions"))
        yield grammar.sentence(style, 3 + int((MAXIMUM_WORDS - 3) * grammar.random.random() ** 1.8))


def write_sides(pairs: Iterator[Pair], stem: Path) -> None:
    """Write `pairs` to STEM.en and STEM.fr."""
    paths = [stem.with_suffix(f".{language}") for language in LANGUAGES]
    with (
        open(paths[0], "w", encoding="utf-8", newline="\n") as sources,
        open(paths[1], "w", encoding="utf-8", newline="\n") as targets,
    ):
        for source, target in pairs:
            sources.write(f"{source}\n")
            targets.write(f"{target}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--pairs", type=int, required=True)
    parser.add_argument(
        "--corpora", type=Path, required=True, help="folder of real text, laid out according to data/open.tsv"
    )
    parser.add_argument("--output", type=Path, required=True, help="output folder")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    real = list(real_pairs(arguments.corpora))
    for name, sets in SETS.items():
        pairs = real_pairs(arguments.corpora, sets) if real else islice(generated(name), SET_PAIRS)
        write_sides(pairs, arguments.output / name)
    pairs = recombined(real, arguments.pairs) if real else generated("train")
    write_sides(islice(pairs, arguments.pairs), arguments.output / "train")
    with tarfile.open(arguments.output / "train.tgz", "w:gz", compresslevel=6) as archive:
        for language in LANGUAGES:
            path = arguments.output / f"train.{language}"
            archive.add(path, path.name)
            path.unlink()


if __name__ == "__main__":
    main()
