"""Select training pairs: those most like in-domain text, by their bilingual cross-entropy difference.

The setting `rule` says which clean pairs are kept:

- `ranking`: the best pairs of all corpora together, up to a number of source words;
- `shares`: the best pairs of each corpus, up to its share of the corpus's source words;
- `random`: pairs drawn at random, up to a number of source words, for comparison;
- `all`: every clean pair; no ratings are needed.

Pairs keep the order of the text. Reports go with the text: an audit of what each corpus contributed and lost and, where
pairs are rated, the distribution of the ratings and examples of the best and the worst pairs.
"""

from __future__ import annotations

import argparse
from bisect import bisect_right
from collections.abc import Container
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.corpora.arrays import read_array
from nmt.corpora.clean import CleanedText, Files, Pair, State, add_cleaned_arguments, cleaned_text
from nmt.corpora.score_pairs import RATING
from nmt.settings.checks import unknown
from nmt.settings.sections import Select
from nmt.system.errors import UserError, warn
from nmt.system.files import atomic
from nmt.system.options import Output
from nmt.system.progress import Progress
from nmt.system.tables import Cell, write_csv
from nmt.system.text import write_lines

EXAMPLES = 10  # best and worst pairs shown for each corpus
# Bins of the distribution of ratings, in bits; the outermost are open.
EDGES = np.concatenate(([-np.inf], np.arange(-10, 15.25, 0.25), [np.inf]))

AUDIT = (
    *("corpus", "pairs", "source_words", "target_words", "duplicates", "held_out", "empty"),
    *("pairs_kept", "source_words_kept", "target_words_kept", "mean_rating"),
)
DISTRIBUTION = ("corpus", "rating_from", "rating_to", "pairs", "pairs_kept", "cut")
TOTAL = "total"

Row = tuple[Cell, ...]
Ratings = NDArray[np.float32]


# ---- which pairs are kept


def keep_best(ratings: Ratings, words: NDArray[np.uint32], clean: NDArray[np.bool_], budget: int) -> NDArray[np.bool_]:
    """Which pairs to keep: the clean pairs with the lowest ratings, up to `budget` source words.

    All arrays have the shape (pairs,). Pairs with equal ratings are kept in the text's order. The rating at which the
    budget is spent is found by bisection, which takes less memory than sorting.
    """
    keys = _keys(ratings)

    def words_up_to(key: int) -> int:
        return int(np.sum(words, where=clean & (keys <= key), dtype=np.int64))

    cut = bisect_right(range(1 << 32), budget, key=words_up_to)  # the first key that exceeds the budget
    kept = clean & (keys < cut)
    tied = np.flatnonzero(clean & (keys == cut))
    left = budget - words_up_to(cut - 1)
    kept[tied[: np.searchsorted(np.cumsum(words[tied], dtype=np.int64), left, side="right")]] = True
    return kept


def _keys(ratings: Ratings) -> NDArray[np.uint32]:
    """Integers that sort like the ratings: the bits of a float, inverted if negative, otherwise with the sign set."""
    keys = (ratings + np.float32(0)).view(np.uint32)  # the sum turns -0 into 0
    negative = ratings < 0
    np.invert(keys, out=keys, where=negative)
    np.bitwise_or(keys, np.uint32(1 << 31), out=keys, where=~negative)
    return keys


def choose(settings: Select, text: CleanedText, ratings: Ratings, seed: int) -> NDArray[np.bool_]:
    """Which pairs a rule that rates pairs keeps, shape (pairs,)."""
    clean = text.clean
    if settings.rule == "shares":
        kept = np.zeros_like(clean)
        for name, part in text.corpora().items():
            part_clean, part_words = clean[part], text.source_words[part]
            share = (settings.shares or {}).get(name, 1)
            budget = int(share * np.sum(part_words, where=part_clean, dtype=np.int64))
            kept[part] = keep_best(ratings[part], part_words, part_clean, budget)
        return kept
    available = int(np.sum(text.source_words, where=clean, dtype=np.int64))
    if not 0 < settings.words < available:
        warn(f"select.words {settings.words}: all {available} words of the clean text are kept")
        return clean
    if settings.rule == "random":
        ratings = np.random.default_rng(seed).random(len(clean), np.float32)
    return keep_best(ratings, text.source_words, clean, settings.words)


# ---- reports


def audit(text: CleanedText, ratings: Ratings | None, kept: NDArray[np.bool_]) -> list[Row]:
    """The rows of the audit, columns as in AUDIT: a row for each corpus, the total last.

    `mean_rating` is the mean over all clean pairs, kept or not; it is empty without ratings.
    """
    rows: list[Row] = []
    for name, part in [*text.corpora().items(), (TOTAL, slice(None))]:
        states, chosen = text.states[part], kept[part]
        dropped = [int(np.sum(states == state)) for state in (State.DUPLICATE, State.HELD_OUT, State.EMPTY)]
        sides = (text.source_words[part], text.target_words[part])
        before = [int(side.sum(dtype=np.int64)) for side in sides]
        after = [int(np.sum(side, where=chosen, dtype=np.int64)) for side in sides]
        clean = states == State.CLEAN
        mean = ""
        if ratings is not None and clean.any():
            mean = f"{ratings[part].mean(where=clean, dtype=np.float64):.4f}"
        rows.append((name, len(states), *before, *dropped, int(chosen.sum()), *after, mean))
    return rows


def distribution(rule: str, text: CleanedText, ratings: Ratings, kept: NDArray[np.bool_]) -> list[Row]:
    """The number of clean pairs and of kept pairs of each corpus in each bin of ratings, columns as in DISTRIBUTION.

    `cut` is the highest rating that the rule keeps, in all corpora or, for `shares`, in this one; it is empty where
    ratings decided nothing. Bins without pairs are left out.
    """
    rows: list[Row] = []
    clean = text.clean
    for name, part in text.corpora().items():
        scope = part if rule == "shares" else slice(None)
        cut = ""
        if rule != "random" and kept[scope].any() and not np.array_equal(kept[scope], clean[scope]):
            cut = f"{ratings[scope].max(where=kept[scope], initial=-np.inf):.4f}"
        every, chosen = (np.histogram(ratings[part][pairs[part]], EDGES)[0] for pairs in (clean, kept))
        for low, high, pairs, pairs_kept in zip(EDGES[:-1], EDGES[1:], every, chosen, strict=True):
            if pairs:
                ends = (f"{edge:g}" if np.isfinite(edge) else "" for edge in (low, high))
                rows.append((name, *ends, int(pairs), int(pairs_kept), cut))
    return rows


def extremes(text: CleanedText, ratings: Ratings) -> set[int]:
    """The numbers of the best and of the worst clean pairs of each corpus, at most `EXAMPLES` of either."""
    found: set[int] = set()
    clean = text.clean
    for part in text.corpora().values():
        count = min(EXAMPLES, part.stop - part.start)
        for sign in (1, -1):
            values = np.where(clean[part], sign * ratings[part], np.inf)
            if count:
                found.update(int(index) + part.start for index in np.argpartition(values, count - 1)[:count])
    return {number for number in found if clean[number]}


def write_kept(text: CleanedText, kept: NDArray[np.bool_], outputs: Files, shown: Container[int]) -> dict[int, Pair]:
    """Write both sides of the kept pairs in the text's order; return the pairs whose numbers are in `shown`."""
    found: dict[int, Pair] = {}
    with (
        Progress("select: writing", len(kept), "pairs") as progress,
        atomic(outputs[0]) as source_name,
        atomic(outputs[1]) as target_name,
        open(source_name, "wb") as source_file,
        open(target_name, "wb") as target_file,
    ):
        for number, (pair, keep) in enumerate(zip(progress.over(text.pairs()), kept, strict=True)):
            if keep:
                source_file.write(pair[0] + b"\n")
                target_file.write(pair[1] + b"\n")
            if number in shown:
                found[number] = pair
    return found


def examples(text: CleanedText, ratings: Ratings, kept: NDArray[np.bool_], shown: dict[int, Pair]) -> list[str]:
    """The pairs of `shown` and where they are from, best first: tab-separated lines, the header first."""
    lines = ["rating\tkept\tcorpus\tline\tsource\ttarget"]
    places = text.corpora().items()
    for number in sorted(shown, key=lambda number: (ratings[number], number)):
        name, start = next((name, part.start) for name, part in places if number < part.stop)
        sentences = (side.decode(errors="replace") for side in shown[number])
        fate = "yes" if kept[number] else "no"
        lines.append("\t".join([f"{ratings[number]:.4f}", fate, name, str(number - start + 1), *sentences]))
    return lines


# ---- command line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_cleaned_arguments(parser)
    parser.add_argument(
        "--ratings", nargs="*", type=Path, default=[], help="ratings from the step score_pairs, a file for each part"
    )
    Select.add_argument(parser)
    parser.add_argument("--seed", type=int, required=True, help="seed of the rule random")
    parser.add_argument("--outputs", nargs=2, type=Output, required=True, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--audit", type=Output, required=True, help="CSV: what each corpus contributed and lost")
    parser.add_argument("--distribution", type=Output, nargs="?", help="CSV: the ratings of each corpus")
    parser.add_argument("--examples", type=Output, nargs="?", help="TSV: the best and the worst pairs of each corpus")


def _read_ratings(paths: list[Path], sizes: list[int]) -> Ratings:
    """The ratings of all parts, which have `sizes` pairs each, shape (pairs,)."""
    if len(paths) != len(sizes):
        raise UserError(f"--ratings names {len(paths)} files for {len(sizes)} parts; name one each")
    parts = [read_array(path, RATING) for path in paths]
    for path, part, size in zip(paths, parts, sizes, strict=True):
        if len(part) != size:
            raise UserError(
                f"{path}: {len(part)} ratings for {size} pairs; name the parts in the order of --names, or run the "
                "step score_pairs again"
            )
    ratings = np.concatenate(parts)
    if wrong := int(np.isnan(ratings).sum()):
        raise UserError(
            f"{wrong} of {len(ratings)} ratings are no numbers; run the steps train_lm and score_pairs again"
        )
    return ratings


def run(arguments: argparse.Namespace) -> None:
    settings: Select = arguments.settings
    for name in settings.shares or ():
        if name not in arguments.names:
            raise unknown(name, arguments.names, "select.shares", "training corpus")
    if settings.scores_pairs and not (arguments.ratings and arguments.distribution and arguments.examples):
        raise UserError(f"select.rule {settings.rule}: name --ratings, --distribution and --examples")
    text = cleaned_text(arguments)
    if not settings.scores_pairs:
        write_kept(text, text.clean, arguments.outputs, ())
        write_csv(arguments.audit, AUDIT, audit(text, None, text.clean))
        return
    ratings = _read_ratings(arguments.ratings, text.sizes)
    kept = choose(settings, text, ratings, arguments.seed)
    if not kept.any():
        size = f"shares {settings.shares}" if settings.rule == "shares" else f"words {settings.words}"
        raise UserError(f"select.{size}: too little for a single pair; allow more")
    shown = write_kept(text, kept, arguments.outputs, extremes(text, ratings))
    write_csv(arguments.audit, AUDIT, audit(text, ratings, kept))
    write_csv(arguments.distribution, DISTRIBUTION, distribution(settings.rule, text, ratings, kept))
    write_lines(arguments.examples, examples(text, ratings, kept, shown))
