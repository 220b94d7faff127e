"""Measure the memory of the stages with a single job for the whole text, on as many pairs as WMT'14 has.

These stages keep numbers for each pair and stream the words, so an artificial text is enough. It has the pairs and
shards of the registry's training corpora and the number of words in the paper, but only ten distinct words; shards of
equal size share a file. Records, with a different digest for each pair, and ratings are written as the earlier steps
would. The words in the shortlists do not matter either; their number is that of the paper.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.command import processor
from bench.data import LMPLZ, SEED, Words, make_parser, measure, sides, workplace
from bench.scale import KEPT, MEASURED, MEMORY, REGISTRY, Peak, paper_words, total_pairs, write_rows, write_tables
from bench.table import one_line_mistakes, parse
from nmt.corpora.arrays import write_array
from nmt.corpora.clean import RECORD
from nmt.corpora.registry import read_registry
from nmt.corpora.score_pairs import RATING
from nmt.corpora.shortlist import EOS_SYMBOL, UNK_SYMBOL, Shortlist
from nmt.settings import sections
from nmt.settings.sections import Shard
from nmt.system.files import check_regular

PIECE = 10_000  # pairs that the text repeats; a small number, because a process starts with the size of its parent
ODD = np.uint64(0x9E3779B97F4A7C15)  # the digests are its multiples, all different and unordered


def shard_sizes(pairs: int) -> list[int]:
    """The number of pairs in each shard of a corpus, as the workflow cuts it; the last one has the remainder."""
    count = Shard().count(pairs)
    return [*[Shard().pairs] * (count - 1), pairs - (count - 1) * Shard().pairs]


def sentences(mean: int) -> list[bytes]:
    """The lines of a piece, with 1 to 2 `mean` - 1 words each."""
    draw = np.random.default_rng(0)
    lengths = draw.integers(1, 2 * mean, PIECE)
    return [b" ".join(b"%d" % word for word in draw.integers(10, size=length)) for length in lengths]


def write_text(stem: Path, pairs: int, lines: list[bytes]) -> list[Path]:
    """Write a text of `pairs` pairs with two equal sides, unless it exists."""
    paths = sides(stem)
    whole = b"".join(line + b"\n" for line in lines)
    rest = b"".join(line + b"\n" for line in lines[: pairs % len(lines)])
    for path in paths:
        if not path.exists():
            with open(path, "wb") as file:
                file.writelines([whole] * (pairs // len(lines)))
                file.write(rest)
    return paths


def records(words: NDArray[np.uint32], first: int, pairs: int) -> Iterator[NDArray[np.void]]:
    """Yield the records of a shard whose first pair has the number `first` in the whole text."""
    for start in range(0, pairs, len(words)):
        piece = np.zeros(min(len(words), pairs - start), RECORD)
        piece["digest"] = np.arange(first + start, first + start + len(piece), dtype=np.uint64) * ODD
        piece["source_words"] = piece["target_words"] = words[: len(piece)]
        yield piece


def ratings(first: int, pairs: int) -> Iterator[NDArray[np.float32]]:
    """Yield random ratings for that shard."""
    draw = np.random.default_rng(first)
    for start in range(0, pairs, PIECE):
        yield draw.standard_normal(min(PIECE, pairs - start), RATING.type)


def bench(folder: Path) -> list[Peak]:
    """Make the text and the outputs of the earlier steps in the empty `folder`; run the stages on them."""
    known = read_registry(REGISTRY).values()
    corpora = [corpus for corpus in known if corpus.role == "train"]
    pairs, log = total_pairs(corpora), folder / "log"
    lines = sentences(round(paper_words(corpora) / pairs))
    words = np.array([line.count(b" ") + 1 for line in lines], np.uint32)
    options: dict[str, Words] = {name: [] for name in ("names", "sources", "targets", "cleaned", "ratings")}
    first = total = 0
    for corpus in corpora:
        for size in shard_sizes(corpus.pairs or 0):
            cleaned, rating = (folder / f"{name}.{first}.npy" for name in ("cleaned", "scored"))
            write_array(cleaned, RECORD, records(words, first, size))
            write_array(rating, RATING, ratings(first, size))
            one: Words = [corpus.name, *write_text(folder / str(size), size, lines), cleaned, rating]
            for option, value in zip(options.values(), one, strict=True):
                option.append(value)
            first += size
            total += int(words.sum()) * (size // PIECE) + int(words[: size % PIECE].sum())
    rating_options: Words = ["--ratings", *options.pop("ratings")]
    text: Words = [word for name, values in options.items() for word in (f"--{name}", *values)]

    development = total_pairs([corpus for corpus in known if corpus.role == "development"])
    in_domain = write_text(folder / "in-domain", development, lines)
    stages: dict[str, Words] = {"train_lm": [*text, "--in-domain-sources", in_domain[0]]}
    stages["train_lm"] += ["--in-domain-targets", in_domain[1], "--lmplz", LMPLZ, "--seed", SEED]
    stages["train_lm"] += ["--output", folder / "language_models"]
    selected = sides(folder / "selected" / "train")
    budget = total * KEPT // paper_words(corpora)
    stages["select"] = [*text, *rating_options, "--settings", json.dumps({"words": budget}), "--seed", SEED]
    stages["select"] += ["--outputs", *selected, "--audit", folder / "audit.csv"]
    stages["select"] += ["--distribution", folder / "ratings.csv", "--examples", folder / "examples.tsv"]
    shortlists = sides(folder / "shortlist")
    symbols = (EOS_SYMBOL, UNK_SYMBOL, *map(str, range(sections.Shortlist().size - 1)))
    for path in shortlists:
        Shortlist(symbols, (1,) * len(symbols)).write(path)
    stages["binarize"] = ["--shortlists", *shortlists, "--texts", *selected, "--seed", SEED]
    stages["binarize"] += ["--output", folder / "binarized"]

    peaks = []
    for stage, arguments in stages.items():
        usage = measure(["nmt", stage, *arguments], log)
        peaks.append(Peak(stage, pairs, usage.peak_mb, processor()))
        print(f"{stage}, {pairs:,} pairs: {usage.peak_mb:,.0f} MB", file=sys.stderr, flush=True)
    return peaks


@one_line_mistakes("memory")
def main(words: list[str] | None = None) -> None:
    parser = make_parser("memory", __doc__, MEMORY)
    parser.add_argument("--measured", type=Path, default=MEASURED, help=f"CSV of bench.data [{MEASURED}]")
    arguments = parse(parser, words)
    for read in (arguments.page, arguments.measured):  # at the end
        check_regular(read)
    with workplace(arguments.folder) as folder:
        peaks = bench(folder)
    write_rows(arguments.output, peaks)
    write_tables(arguments.measured, arguments.output, arguments.costs, arguments.page)


if __name__ == "__main__":
    main()
