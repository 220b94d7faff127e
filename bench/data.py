"""Measure every data stage on texts of increasing size, and estimate from that the cost of all of WMT'14.

One process runs at a time; tokenize, clean and score_pairs work on shards, as in the workflow. The CSV has a row for
each size and stage: seconds, seconds of processor time, pairs per second and core, the largest resident size of a
process and the size of the outputs. The costs of WMT'14 and the tables of the page are made from this CSV and from
that of `bench.memory` (`bench.scale`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.command import processor
from bench.scale import (
    COSTS,
    KEPT,
    MEASURED,
    MEGA,
    MEMORY,
    PAGE,
    PLAIN,
    Row,
    paper_words,
    training_corpora,
    write_rows,
    write_tables,
)
from bench.table import one_line_mistakes, parse
from bench.text import LANGUAGES, SETS, real_corpora
from nmt.corpora.lmplz import provide, works
from nmt.settings.sections import Shard
from nmt.system.errors import UserError, warn
from nmt.system.files import check_regular
from nmt.system.options import Output, OutputFolder
from nmt.system.text import read_lines

LMPLZ = Path("data/tools/lmplz")
SIZES = [250_000, 1_000_000, 4_000_000]
PLAIN_LINES = 100_000
BUILT_IN = "sentences of the built-in language"
SEED = "1234"
Words = list[str | Path]


class Stage(NamedTuple):
    """A stage on a number of pairs: its name, the words after `python -m` for each job, and the output files."""

    name: str
    pairs: int
    jobs: list[Words]
    outputs: list[Path]


class Usage(NamedTuple):
    """Seconds of wall time and of processor time, and the largest resident size of a process in MB."""

    seconds: float
    core_seconds: float
    peak_mb: float


def measure(words: Words, log: Path) -> Usage:
    """Run `python -m` with `words`, messages going to `log`, and return its usage. Raises UserError if it fails.

    A process starts with the largest size of its parent, so this one must stay small: other processes make the text.
    """
    begun = time.monotonic()
    with open(log, "wb") as messages:
        process = subprocess.Popen([sys.executable, "-m", *words], stderr=messages)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        *_, said = log.read_text(errors="replace").strip().split("\n")
        raise UserError(f"{words[0]} {words[1]} failed: {said}")
    # Linux counts the resident size in KB
    return Usage(time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / MEGA)


def size(path: Path) -> int:
    """The size in bytes of a file, or of all files in a folder."""
    return sum(size(inner) for inner in path.iterdir()) if path.is_dir() else path.stat().st_size


def count_words(path: Path) -> int:
    """The number of words in a tokenized text."""
    return sum(line.count(" ") + 1 for line in read_lines(path) if line)


def sides(stem: Path) -> list[Path]:
    """The two files of a text, source first."""
    return [stem.with_name(f"{stem.name}.{language}") for language in LANGUAGES]


def tokenization(raw: Path, output: Path, language: str, shard: tuple[int, int] = (1, 1)) -> Words:
    """The command that tokenizes a shard of a text."""
    cut = ["--shard", *map(str, shard), str(Shard().pairs)]
    return ["nmt", "tokenize", "--language", language, *cut, "--input", raw, "--output", output]


def stages(folder: Path, pairs: int) -> Iterator[Stage]:
    """Yield the stages to measure on the text in `folder`. Each must be run before the next one is requested."""

    def whole(name: str, words: Words, outputs: list[Path]) -> Stage:
        return Stage(name, pairs, [["nmt", name.split(" ")[0], *words]], outputs)

    archive, raw = folder / "train.tgz", sides(folder / "extracted" / "train")
    words: Words = ["--name", "train", "--archives", archive, archive, "--members", *(path.name for path in raw)]
    yield whole("extract", [*words, "--outputs", *raw], raw)

    shards = Shard().count(pairs)
    parts = [sides(folder / "tokenized" / f"train.{number}") for number in range(1, shards + 1)]
    for side, language in enumerate(LANGUAGES):
        lines = min(pairs, PLAIN_LINES)
        plain: Words = ["bench.plain", "--language", language, "--lines", str(lines), "--input", raw[side]]
        yield Stage(f"{PLAIN} {language}", lines, [[*plain, "--output", folder / PLAIN]], [folder / PLAIN])
        texts = [part[side] for part in parts]
        jobs = [tokenization(raw[side], text, language, (number, shards)) for number, text in enumerate(texts, 1)]
        yield Stage(f"tokenize {language}", pairs, jobs, texts)

    held_out, in_domain = (sides(folder / "tokenized" / name) for name in SETS)
    cleaned, ratings = ([folder / f"{name}.{number}.npy" for number in range(shards)] for name in ("cleaned", "scored"))
    words = ["--held-out-sources", held_out[0], "--held-out-targets", held_out[1]]
    both = list(zip(parts, cleaned, strict=True))
    jobs = [["nmt", "clean", "--texts", *part, *words, "--output", records] for part, records in both]
    yield Stage("clean", pairs, jobs, cleaned)
    models = folder / "language_models"
    text: Words = ["--names", *["train"] * shards, "--sources", *(part[0] for part in parts)]
    text += ["--targets", *(part[1] for part in parts), "--cleaned", *cleaned, "--seed", SEED]
    words = [*text, "--in-domain-sources", in_domain[0], "--in-domain-targets", in_domain[1], "--lmplz", LMPLZ]
    yield whole("train_lm", [*words, "--output", models], [models])
    both = list(zip(parts, ratings, strict=True))
    jobs = [["nmt", "score_pairs", "--texts", *part, "--models", models, "--output", rating] for part, rating in both]
    yield Stage("score_pairs", pairs, jobs, ratings)

    selected, audit = sides(folder / "selected" / "train"), folder / "audit.csv"
    budget = sum(count_words(part[0]) for part in parts) * KEPT // paper_words(training_corpora())
    words = [*text, "--ratings", *ratings, "--settings", json.dumps({"words": budget})]
    words += ["--outputs", *selected, "--audit", audit]
    words += ["--distribution", folder / "ratings.csv", "--examples", folder / "examples.tsv"]
    yield whole("select", words, selected)

    shortlists = sides(folder / "shortlist")
    for language, side_text, shortlist in zip(LANGUAGES, selected, shortlists, strict=True):
        yield whole(f"shortlist {language}", ["--input", side_text, "--output", shortlist], [shortlist])
    words = ["--shortlists", *shortlists, "--texts", *selected]
    coverage, ids = folder / "coverage.csv", folder / "binarized"
    yield whole("coverage", [*words, "--audit", audit, "--output", coverage], [coverage])
    yield whole("binarize", [*words, "--seed", SEED, "--output", ids], [ids])


def together(usages: list[Usage]) -> Usage:
    """The usage of several jobs that ran one after the other."""
    seconds, core_seconds, peaks = zip(*usages, strict=True)
    return Usage(sum(seconds), sum(core_seconds), max(peaks))


def bench(pairs: int, corpora: Path, folder: Path) -> list[Row]:
    """Make a text of `pairs` pairs in the empty `folder` and run the stages on it one after another."""
    log = folder / "log"
    measure(["bench.text", "--pairs", str(pairs), "--corpora", corpora, "--output", folder], log)
    for name in SETS:
        raw, tokenized = sides(folder / name), sides(folder / "tokenized" / name)
        for language, source, output in zip(LANGUAGES, raw, tokenized, strict=True):
            measure(tokenization(source, output, language), log)
    used = []
    for stage in stages(folder, pairs):
        used.append((stage, together([measure(words, log) for words in stage.jobs])))
        print(f"{stage.name}, {stage.pairs:,} pairs: {used[-1][1].seconds:.1f} s", file=sys.stderr, flush=True)
    words = sum(map(count_words, (folder / "tokenized").glob(f"train.*.{LANGUAGES[1]}")))
    text = name_of_text(corpora)
    return [
        Row(
            stage.name,
            stage.pairs,
            words * stage.pairs // pairs,
            usage.seconds,
            usage.core_seconds,
            stage.pairs / usage.core_seconds,
            usage.peak_mb,
            sum(size(path) for path in stage.outputs) / MEGA,
            processor(),
            text,
        )
        for stage, usage in used
    ]


def name_of_text(corpora: Path) -> str:
    """A description of the text that `bench.text` makes."""
    found = len(real_corpora(corpora))
    return f"recombined lines of {found} open corpora" if found else BUILT_IN


def make_parser(name: str, description: str | None, output: Path) -> argparse.ArgumentParser:
    """A parser with the options of `python -m bench.NAME` that name the folders and files to write."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=(description or "").split("\n\n")[0])
    folder = "data/bench"
    parser.add_argument("--folder", type=OutputFolder, default=folder, help=f"folder for temporary files [{folder}]")
    parser.add_argument("--output", type=Output, default=str(output), help=f"[{output}]")
    parser.add_argument("--costs", type=Output, default=str(COSTS), help=f"CSV for all of WMT'14 [{COSTS}]")
    parser.add_argument("--page", type=Path, default=PAGE, help=f"page whose two tables are renewed [{PAGE}]")
    return parser


@contextmanager
def workplace(folder: Path) -> Iterator[Path]:
    """Yield a new folder below `folder`, removed at the end; lmplz is provided, too. Raises UserError."""
    if not works(LMPLZ):
        provide(LMPLZ)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = tempfile.TemporaryDirectory(dir=folder)
    except OSError as error:
        raise UserError(f"--folder {folder}: {error.strerror}; name another one") from None
    with made as name:
        yield Path(name)


@one_line_mistakes("data")
def main(words: list[str] | None = None) -> None:
    parser = make_parser("data", __doc__, MEASURED)
    parser.add_argument("--pairs", type=int, nargs="+", default=SIZES, help="sizes of the text")
    parser.add_argument(
        "--corpora",
        type=Path,
        default=Path("data/open/archives"),
        help="folder of real text, as config/open.yaml fetches it; else the built-in language [data/open/archives]",
    )
    parser.add_argument("--memory", type=Path, default=MEMORY, help=f"CSV of bench.memory [{MEMORY}]")
    arguments = parse(parser, words)
    for read in (arguments.page, arguments.memory):  # at the end
        check_regular(read)
    if name_of_text(arguments.corpora) == BUILT_IN:
        warn(f"{arguments.corpora}: none of the open corpora is there; {BUILT_IN} are measured instead")
    rows: list[Row] = []
    for pairs in sorted({*arguments.pairs}):
        with workplace(arguments.folder) as folder:
            rows += bench(pairs, arguments.corpora, folder)
    write_rows(arguments.output, rows)
    write_tables(arguments.output, arguments.memory, arguments.costs, arguments.page)


if __name__ == "__main__":
    main()
