"""Count the n-grams of target texts for Thot's interpolated language model (Jelinek and Mercer, 1980).

The first occurrence of every word is counted as the unknown word. Each line of the model is an n-gram, the count of its
history (its words without the last) and its own count.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from nmt.phrase_based.text import add_text_arguments, split_escaped, text_lines
from nmt.phrase_based.thot.decoder import LANGUAGE_MODEL, write_digests
from nmt.settings.sections import PhraseBased
from nmt.system.errors import UserError
from nmt.system.options import OutputFolder
from nmt.system.text import write_lines

BEGIN, END, UNKNOWN = range(3)
SYMBOLS = ["<s>", "</s>", "<unk>"]
BUCKETS, BUCKET_SIZE = 3, 10  # each order has a weight for every bucket of counts of the history
Ids = NDArray[np.int64]


def read_ids(lines: Iterable[str]) -> tuple[Ids, list[str]]:
    """The word ids of all sentences in one array, each sentence between BEGIN and END, and the words of the ids."""
    ids: dict[str, int] = {word: number for number, word in enumerate(SYMBOLS)}
    row: list[int] = []
    for words in filter(None, map(split_escaped, lines)):
        row.append(BEGIN)
        for word in words:
            row.append(ids.get(word, UNKNOWN))
            ids.setdefault(word, len(ids))
        row.append(END)
    return np.array(row, dtype=np.int64), list(ids)


def count(row: Ids, words: list[str], order: int) -> Iterator[str]:
    """Yield the lines of the model, shorter n-grams first."""
    grams, counts = row, np.full(1, len(row))
    before = np.zeros(len(row), dtype=np.int64)  # the index in `counts` of the (n-1)-gram that starts at each word
    for n in range(1, order + 1):
        starts = np.flatnonzero(_whole(row, n))
        keys = before[starts] * len(words) + row[starts + n - 1]
        _, first, grams, own = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        for start, number in zip(starts[first].tolist(), own.tolist(), strict=True):
            text = " ".join([words[word] for word in row[start : start + n]])
            yield f"{text} {counts[before[start]]} {number}"
        before = np.zeros(len(row), dtype=np.int64)
        before[starts], counts = grams, own


def _whole(row: Ids, n: int) -> NDArray[np.bool_]:
    """Whether the n-gram that starts at each word ends in the same sentence."""
    sentence = np.cumsum(row == BEGIN)
    whole = np.zeros(len(row), dtype=bool)
    starts = max(0, len(row) - n + 1)
    whole[:starts] = sentence[:starts] == sentence[n - 1 :]
    return whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_text_arguments(parser)
    PhraseBased.add_argument(parser)
    parser.add_argument("--output", type=OutputFolder, required=True, help="folder of the model")


def run(arguments: argparse.Namespace) -> None:
    order: int = arguments.settings.order
    row, words = read_ids(text_lines(arguments.texts, arguments.held_out))
    if not len(row):
        raise UserError(f"{arguments.texts[0]}: no words; give the language model a text that is not empty")
    lines = write_lines(arguments.output / LANGUAGE_MODEL, count(row, words, order))
    print(f"thot_language_model: {lines:,} n-grams of {len(row):,} words", file=sys.stderr)
    weights = " ".join(["0.5"] * (BUCKETS * order))
    write_lines(arguments.output / f"{LANGUAGE_MODEL}.weights", [f"{order} {BUCKETS} {BUCKET_SIZE} {weights}"])
    write_lines(arguments.output / f"{LANGUAGE_MODEL}.wp", [])
    write_digests(arguments.output, LANGUAGE_MODEL)
