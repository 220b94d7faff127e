"""Select the training pairs most like in-domain text, by the ratings of bilingual cross-entropy difference.

Three rules say which of the clean pairs are kept: `ranking`, the best of all corpora together within a number of
source words; `shares`, the best of each corpus within its own share of the corpus's source words; `random`, pairs
drawn by lot within a number of source words, to compare with. The rules decide only what is kept: the order of the
text stays. Beside the text stand an audit, what each corpus gave and lost; the distribution of the ratings; and the
best and worst pairs, to look at.
"""

from __future__ import annotations

import argparse
from bisect import bisect_right
from collections.abc import Container, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.corpora.arrays import read_array
from nmt.corpora.clean import Files, Pair, State, Text, add_text_arguments, text_of
from nmt.corpora.score_pairs import RATING
from nmt.system.files import UserError, atomic, warn, write_lines
from nmt.system.progress import Progress
from nmt.system.tables import Cell, write_csv

RULES = ("ranking", "shares", "random")
EXAMPLES = 10  # best and worst pairs of each corpus that are shown
# Bins of the ratings' distribution, in bits; the outermost are open.
EDGES = np.concatenate(([-np.inf], np.arange(-10, 15.25, 0.25), [np.inf]))

AUDIT = (
    *("corpus", "pairs", "source_words", "target_words", "duplicates", "held_out", "empty"),
    *("pairs_kept", "source_words_kept", "target_words_kept", "mean_rating"),
)
DISTRIBUTION = ("corpus", "rating_from", "rating_to", "pairs", "pairs_kept", "cut")
TOTAL = "total"

Row = tuple[Cell, ...]


# ---- the choice


def keep_best(
    ratings: NDArray[np.float32], words: NDArray[np.uint32], clean: NDArray[np.bool_], budget: int
) -> NDArray[np.bool_]:
    """Which pairs to keep: the clean ones of lowest rating, equal ratings in the text's order, within `budget` words.

    All arguments and the result have shape (pairs,); words are those of the source. The rating at which the budget is
    spent is searched for by halves, which takes less memory than to sort.
    """
    keys = _keys(ratings)

    def words_up_to(key: int) -> int:
        return int(np.sum(words, where=clean & (keys <= key), dtype=np.int64))

    cut = bisect_right(range(1 << 32), budget, key=words_up_to)  # the first key too much
    kept = clean & (keys < cut)
    tied = np.flatnonzero(clean & (keys == cut))
    left = budget - words_up_to(cut - 1)
    kept[tied[: np.searchsorted(np.cumsum(words[tied], dtype=np.int64), left, side="right")]] = True
    return kept


def _keys(ratings: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Whole numbers in the order of the ratings: their bits, all inverted where the sign is set, else the sign."""
    keys = (ratings + np.float32(0)).view(np.uint32)  # adding makes -0 a 0
    negative = ratings < 0
    np.invert(keys, out=keys, where=negative)
    np.bitwise_or(keys, np.uint32(1 << 31), out=keys, where=~negative)
    return keys


def choose(
    rule: str, text: Text, ratings: NDArray[np.float32], words: int, shares: dict[str, float], seed: int
) -> NDArray[np.bool_]:
    """Which pairs `rule` keeps, shape (pairs,); see the module."""
    clean = text.clean
    if rule == "shares":
        kept = np.zeros_like(clean)
        for name, part in text.corpora().items():
            part_clean, part_words = clean[part], text.source_words[part]
            budget = int(shares.get(name, 1) * np.sum(part_words, where=part_clean, dtype=np.int64))
            kept[part] = keep_best(ratings[part], part_words, part_clean, budget)
        return kept
    available = int(np.sum(text.source_words, where=clean, dtype=np.int64))
    if not 0 < words < available:
        warn(f"selection words {words}: all {available} words of the clean text are kept")
        return clean
    if rule == "random":
        ratings = np.random.default_rng(seed).random(len(clean), np.float32)
    return keep_best(ratings, text.source_words, clean, words)


# ---- accounts of it


def audit(text: Text, ratings: NDArray[np.float32], kept: NDArray[np.bool_]) -> list[Row]:
    """The rows of the audit, columns as in AUDIT: one row a corpus, the total last.

    `mean_rating` is over all clean pairs, kept or not.
    """
    rows: list[Row] = []
    for name, part in [*text.corpora().items(), (TOTAL, slice(None))]:
        states, chosen = text.states[part], kept[part]
        dropped = [int(np.sum(states == state)) for state in (State.DUPLICATE, State.HELD_OUT, State.EMPTY)]
        sides = (text.source_words[part], text.target_words[part])
        before = [int(side.sum(dtype=np.int64)) for side in sides]
        after = [int(np.sum(side, where=chosen, dtype=np.int64)) for side in sides]
        clean = states == State.CLEAN
        mean = f"{ratings[part].mean(where=clean, dtype=np.float64):.4f}" if clean.any() else ""
        rows.append((name, len(states), *before, *dropped, int(chosen.sum()), *after, mean))
    return rows


def distribution(rule: str, text: Text, ratings: NDArray[np.float32], kept: NDArray[np.bool_]) -> list[Row]:
    """How many clean pairs of each corpus have what rating, and how many are kept, columns as in DISTRIBUTION.

    `cut` is the highest rating that the rule keeps, of all corpora or of this one; empty where nothing was cut by
    ratings. Bins without pairs are left out.
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


def extremes(text: Text, ratings: NDArray[np.float32]) -> set[int]:
    """The numbers of each corpus's best and worst clean pairs, `EXAMPLES` of either where there are as many."""
    found: set[int] = set()
    clean = text.clean
    for part in text.corpora().values():
        count = min(EXAMPLES, part.stop - part.start)
        for sign in (1, -1):
            values = np.where(clean[part], sign * ratings[part], np.inf)
            if count:
                found.update(int(index) + part.start for index in np.argpartition(values, count - 1)[:count])
    return {number for number in found if clean[number]}


def write_kept(text: Text, kept: NDArray[np.bool_], outputs: Files, shown: Container[int]) -> dict[int, Pair]:
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


def examples(text: Text, ratings: NDArray[np.float32], kept: NDArray[np.bool_], shown: dict[int, Pair]) -> list[str]:
    """The pairs of `shown` with where they come from, best first, as lines of tab-separated columns, header first."""
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
    """The flags of `python -m nmt select`."""
    add_text_arguments(parser)
    parser.add_argument("--ratings", nargs="+", type=Path, required=True, help="of the step rate, one a part")
    parser.add_argument("--rule", choices=RULES, default="ranking")
    parser.add_argument("--words", type=int, default=0, help="source words to keep; 0 keeps all that is clean")
    parser.add_argument("--shares", nargs="*", default=[], metavar="CORPUS=SHARE", help="a corpus not named: 1")
    parser.add_argument("--seed", type=int, default=0, help="of the lots of the rule random")
    parser.add_argument("--outputs", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--audit", type=Path, required=True, help="CSV: what each corpus gave")
    parser.add_argument("--distribution", type=Path, required=True, help="CSV: the ratings of each corpus")
    parser.add_argument("--examples", type=Path, required=True, help="TSV: the best and worst pairs of each corpus")


def _shares(words: Sequence[str], corpora: Container[str]) -> dict[str, float]:
    """The shares of --shares; UserError unless each is a known corpus and a number from 0 to 1."""
    shares: dict[str, float] = {}
    for word in words:
        name, _, share = word.rpartition("=")
        try:
            shares[name] = float(share)
        except ValueError:
            shares[name] = -1
        if name not in corpora or not 0 <= shares[name] <= 1:
            raise UserError(f"selection shares: {word} is not the name of a corpus, = and a number from 0 to 1")
    return shares


def run(arguments: argparse.Namespace) -> None:
    """Cut the rated training text and give account of it."""
    if arguments.words < 0 or arguments.seed < 0:
        raise UserError(f"selection words {arguments.words}, seed {arguments.seed}: neither may be negative")
    shares = _shares(arguments.shares, arguments.names)
    text = text_of(arguments)
    if not text.clean.any():
        raise UserError(f"{', '.join(text.corpora())}: no clean pair, all are empty or held out; check the corpora")
    ratings = np.concatenate([read_array(path, RATING) for path in arguments.ratings])
    if len(ratings) != len(text.states):
        raise UserError(f"{len(ratings)} ratings for {len(text.states)} pairs; rate the text again")
    kept = choose(arguments.rule, text, ratings, arguments.words, shares, arguments.seed)
    if not kept.any():
        raise UserError(f"selection words {arguments.words}, shares {shares}: no pair is as short; allow more")
    shown = write_kept(text, kept, arguments.outputs, extremes(text, ratings))
    write_csv(arguments.audit, AUDIT, audit(text, ratings, kept))
    write_csv(arguments.distribution, DISTRIBUTION, distribution(arguments.rule, text, ratings, kept))
    write_lines(arguments.examples, examples(text, ratings, kept, shown))
