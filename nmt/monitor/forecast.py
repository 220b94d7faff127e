"""What a run will take, printed before it starts: its downloads, and its training time at the bench's speed."""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from statistics import fmean

from nmt.corpora.registry import Archive
from nmt.monitor.counts import last_update, updates_before
from nmt.settings.experiment import Experiment
from nmt.settings.project import PROJECT
from nmt.settings.variant import Architecture, Variant
from nmt.training.metrics import latest, read_metrics

BENCH = Path("results/bench/train.csv")  # of RNNsearch in the paper's sizes, with 30,001 symbols, by `make bench`
BENCH_SYMBOLS, BENCH_WORDS, BENCH_BATCH = 30_001, 20, 80
WORDS = 25  # in a sentence of real text
OF_SYSTEMS = ("train", "nll", "translate", "translate_no_unk", "evaluate")  # rules with a job for each system
WORTH_SAYING = 3600, 1e9  # seconds and bytes; nothing is printed about less
UNREADABLE = (OSError, ValueError, LookupError, TypeError, csv.Error)  # what a damaged table may raise
SPANS = (("days", 86400), ("hours", 3600), ("minutes", 60))


def announcement(experiment: Experiment, archives: Iterable[Archive], variants: Collection[str]) -> str:
    """What to say about a run that fetches `archives` and trains `variants`; "" if both are short."""
    seconds, device = training_seconds(experiment, variants)
    lengths = [archive.bytes for archive in archives]
    known = sum(length or 0 for length in lengths)
    said = []
    if known >= WORTH_SAYING[1]:
        least = "at least " if None in lengths else ""
        said.append(f"fetches {len(lengths)} archives, {least}{known / 1e9:.1f} GB")
    if seconds >= WORTH_SAYING[0]:
        models = f"{len(variants)} model{'s' * (len(variants) > 1)}"
        said.append(f"trains {models} for about {span(seconds)} in all, at the speed of `make bench` on {device}")
    return f"nmt: this run {', and '.join(said)}" if said else ""


def training_seconds(experiment: Experiment, variants: Collection[str]) -> tuple[float, str]:
    """How long the remaining updates of `variants` take, one after the other, on the bench's device, and its name.

    Without a bench, it is 0 s. Evaluations are not counted, nor is what a patience may save.
    """
    updates = _updates()
    total = 0.0
    for name in variants:
        variant = experiment.variants[name]
        if (update := updates.get(variant.optimization.precision)) is not None:
            bench = BENCH_BATCH * pair_products(Architecture(output_rank=None), BENCH_SYMBOLS, BENCH_WORDS, BENCH_WORDS)
            symbols = (experiment.subwords.symbols if experiment.subwords else experiment.shortlist.size) + 1
            ours = variant.optimization.batch * pair_products(variant.architecture, symbols, WORDS, WORDS)
            total += _left(experiment, variant) * ours / (bench / update[0])
    return total, next((device for _, device in updates.values()), "")


def _updates() -> dict[str, tuple[float, str]]:
    """The seconds of our update on short sentences and its device, by precision; with several models, the first's.

    A bench that is missing or damaged has none.
    """
    found: dict[str, tuple[float, str]] = {}
    with suppress(*UNREADABLE), open(PROJECT / BENCH, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            short = row["implementation"] == "ours" and float(row["source_words"]) == BENCH_WORDS
            if short and (seconds := float(row["seconds"])) > 0:
                found.setdefault(row["precision"], (seconds, row["device"]))
    return found


def _left(experiment: Experiment, variant: Variant) -> int:
    """The updates that a training run still has to make; a checkpoint may be some updates behind."""
    file, before = latest(experiment.name, variant.name), updates_before(experiment, variant)
    if file is None or before is None or "checkpoints" not in file.parts:
        return variant.optimization.updates
    done = max(0, last_update(read_metrics(file)) - before)
    return max(0, variant.optimization.updates - done)


def pair_products(model: Architecture, symbols: int, source: float, target: float) -> float:
    """Multiplications in the matrix products for one pair of this many words, forward; backward it is twice as many.

    Products with single vectors, such as those of the attention, count, too; s_0 and contextualization do not.
    """
    m, n, alignment, maxout = model.embedding, model.hidden, model.alignment, model.maxout
    gates = {"gated": 3, "lstm": 4}[model.unit] * n
    unit, context = gates * (m + n), gates + 2 * maxout
    rank = model.output_rank
    output = maxout * symbols if rank is None else rank * (maxout + symbols)
    read, write = float(unit), float(unit + 2 * maxout * (n + m) + output)
    if model.attention == "fixed":
        return source * read + target * write + n * context
    read += unit + 2 * n * alignment
    write += n * alignment + (m * alignment if model.score_previous else 0)
    if model.attention == "fine_grained":
        write += source * 2 * n * (alignment + 1) + 2 * n * context
    else:
        read += 2 * n * context
        write += source * (alignment + context)
    return source * read + target * write


def measured(experiment: Experiment) -> dict[str, float]:
    """The mean seconds of a job of each rule in the last run of an experiment."""
    return {rule: fmean(seconds) for rule, seconds in job_seconds(experiment.name, experiment.systems).items()}


def job_seconds(experiment: str, systems: Collection[str]) -> dict[str, list[float]]:
    """The seconds of the last jobs of each rule, by benchmark files in the working directory that are not damaged.

    Those of systems that the experiment no longer has do not count; `systems` are those that it has.
    """
    found: dict[str, list[float]] = {}
    for path in Path("benchmarks").glob(f"*/{experiment}/**/*.tsv"):
        if path.parts[1] in OF_SYSTEMS and path.parts[3].split(".")[0] not in systems:
            continue
        with suppress(*UNREADABLE), open(path, encoding="utf-8", newline="") as file:
            rows = [float(row["s"]) for row in csv.DictReader(file, delimiter="\t") if row["s"]]
            found.setdefault(path.parts[1], []).extend(one for one in rows if math.isfinite(one))
    return {rule: seconds for rule, seconds in found.items() if seconds}


def span(seconds: float) -> str:
    """A time in words, as "3 minutes", "2.5 hours" or "12 days"."""
    for unit, size in SPANS:
        if seconds >= 2 * size:
            amount = seconds / size
            return f"{amount:.0f} {unit}" if amount >= 10 or unit == "minutes" else f"{amount:.1f} {unit}"
    return "1 second" if round(seconds) == 1 else f"{seconds:.0f} seconds"
