"""Count the n-grams of target texts for Thot's language model, an interpolated one (Jelinek and Mercer, 1980).

The first occurrence of every word counts as one of the unknown word. A line of the model is an n-gram, how often its
words but the last one were seen, and how often it was seen itself.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.corpora.pairs import split_words
from nmt.phrase_based.monolingual import add_text_arguments, text_lines
from nmt.system.files import UserError, write_lines

MODEL = "model"
BEGIN, END, UNKNOWN = range(3)
SYMBOLS = ["<s>", "</s>", "<unk>"]
BUCKETS, BUCKET_SIZE = 3, 10  # the weights of an order, by how often the words before were seen
Ids = NDArray[np.int64]


def read_ids(lines: Iterable[str]) -> tuple[Ids, list[str]]:
    """All sentences in one row of word ids, each between BEGIN and END, and the words of the ids."""
    ids: dict[str, int] = {word: number for number, word in enumerate(SYMBOLS)}
    row: list[int] = []
    for words in filter(None, map(split_words, lines)):
        row.append(BEGIN)
        for word in words:
            row.append(ids.get(word, UNKNOWN))
            ids.setdefault(word, len(ids))
        row.append(END)
    return np.array(row, dtype=np.int64), list(ids)


def count(row: Ids, words: list[str], order: int) -> Iterator[str]:
    """The lines of the model, shorter n-grams first."""
    grams, counts = row, np.full(1, len(row))
    before = np.zeros(len(row), dtype=np.int64)  # the (n-1)-gram that starts at each word, as its place in `counts`
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
    """At which words an n-gram starts that ends in the same sentence."""
    sentence = np.cumsum(row == BEGIN)
    whole = np.zeros(len(row), dtype=bool)
    whole[: len(row) - n + 1] = sentence[: len(row) - n + 1] == sentence[n - 1 :]
    return whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `python -m nmt language_model`."""
    add_text_arguments(parser)
    parser.add_argument("--order", type=int, default=3, help="words of the longest n-grams")
    parser.add_argument("--output", type=Path, required=True, help="a folder")


def run(arguments: argparse.Namespace) -> None:
    """Count the texts."""
    if arguments.order < 1:
        raise UserError(f"--order: {arguments.order}; give 1 or more")
    row, words = read_ids(text_lines(arguments.texts, arguments.held_out))
    if not len(row):
        raise UserError(f"{arguments.texts[0]}: no words in it; give the language model a text")
    lines = write_lines(arguments.output / MODEL, count(row, words, arguments.order))
    print(f"language_model: {lines:,} n-grams of {len(row):,} words", file=sys.stderr)
    weights = " ".join(["0.5"] * (BUCKETS * arguments.order))
    write_lines(arguments.output / f"{MODEL}.weights", [f"{arguments.order} {BUCKETS} {BUCKET_SIZE} {weights}"])
    write_lines(arguments.output / f"{MODEL}.wp", [])
