"""Figure 2's points: corpus BLEU of each model by the length of the source sentence, with the sentences in each bin.

A bin from 10 to 20 holds the sentences of 11 to 20 words: a model trained on sentences of up to 30 words has seen
all lengths of the bins up to 30. The first bin holds the empty sentences too, the last has no upper end.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise

from nmt.corpora.pairs import split_words
from nmt.evaluation.bleu import tokenized_bleu
from nmt.evaluation.sentences import paired, read_parallel
from nmt.report.markup import number
from nmt.system.files import UserError
from nmt.system.tables import Cell, write_csv

COLUMNS = ("model", "length_from", "length_to", "sentences", "bleu")
OPEN_FROM = 60  # words; where Figure 2 ends


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", required=True, help="tokenized source sentences")
    parser.add_argument("--reference", required=True, help="tokenized reference translations")
    parser.add_argument("--translations", required=True, nargs="+", help="one file a model")
    parser.add_argument("--labels", required=True, nargs="+", help="the models' names, in the figure's order")
    parser.add_argument("--bin-width", required=True, type=int, help="words")
    parser.add_argument("--output", required=True, help="CSV")


def bins(width: int) -> list[tuple[int, int | None]]:
    """(from, to] in words, from 0 to the first multiple of `width` at or above 60, then one bin without end."""
    edges = list(range(0, OPEN_FROM + width, width))
    return [*pairwise(edges), (edges[-1], None)]


def bin_of(words: int, width: int) -> int:
    """The index in `bins(width)` of a sentence of that many words."""
    return min(max(words - 1, 0) // width, len(bins(width)) - 1)


def points(
    label: str, sources: Sequence[str], references: Sequence[str], translations: Sequence[str], width: int
) -> list[list[Cell]]:
    """One row of COLUMNS a bin, BLEU in percent; an empty bin has 0 sentences and no BLEU."""
    members: list[list[int]] = [[] for _ in bins(width)]
    for index, source in enumerate(sources):
        members[bin_of(len(split_words(source)), width)].append(index)
    rows: list[list[Cell]] = []
    for (low, high), indices in zip(bins(width), members, strict=True):
        bleu, _ = tokenized_bleu([translations[i] for i in indices], [references[i] for i in indices])
        rows.append([label, low, high, len(indices), number(bleu, 2)])
    return rows


def run(arguments: argparse.Namespace) -> None:
    if arguments.bin_width < 1:
        raise UserError(f"--bin-width: {arguments.bin_width} is not a number of words; give 1 or more")
    models = paired(arguments.labels, "--translations", arguments.translations)
    source, reference, *translations = read_parallel(
        arguments.source, arguments.reference, *(path for _, path in models)
    )
    rows = [
        row
        for (label, _), translation in zip(models, translations, strict=True)
        for row in points(label, source, reference, translation, arguments.bin_width)
    ]
    write_csv(arguments.output, COLUMNS, rows)
