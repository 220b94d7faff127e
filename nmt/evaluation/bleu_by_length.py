"""Measure the corpus BLEU of each model by the length of the source sentence.

`nmt.evaluation.bins` says which lengths share a bin. The sentences of each bin are resampled: 95 % of the scores lie
between the columns lower and upper. All models have the same resamples. Of a model with several seeds, BLEU is the
mean, and the seeds are resampled, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import islice
from statistics import fmean

from nmt.corpora.pairs import split_words
from nmt.evaluation.bins import Bins
from nmt.evaluation.bleu import add_tokenizer_argument, corpus_bleu
from nmt.evaluation.bootstrap import interval
from nmt.evaluation.sentences import grouped, read_parallel
from nmt.system.options import Output
from nmt.system.tables import Cell, number, write_csv

COLUMNS = ("model", "length_from", "length_to", "sentences", "bleu", "lower", "upper")
RESAMPLES = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", required=True, help="tokenized source sentences")
    parser.add_argument("--reference", required=True, help="tokenized reference translations")
    parser.add_argument("--translations", required=True, nargs="+", help="one file for each model")
    parser.add_argument(
        "--labels",
        required=True,
        nargs="+",
        help="names of the models, in the figure's order; a model's seeds share its name",
    )
    add_tokenizer_argument(parser)
    Bins.add_argument(parser)
    parser.add_argument("--seed", type=int, required=True, help="seed of the resamples")
    parser.add_argument("--output", type=Output, required=True, help="CSV")


def points(
    label: str,
    sources: Sequence[str],
    references: Sequence[str],
    translations: Sequence[Sequence[str]],
    bins: Bins,
    seed: int,
    tokenizer: str,
) -> list[list[Cell]]:
    """One row of COLUMNS for each bin, BLEU in percent; an empty bin has 0 sentences and no BLEU.

    `translations` are those of one model, by seed; BLEU is the mean of theirs.
    """
    rows: list[list[Cell]] = []
    for low, high, indices in bins.members([len(split_words(source)) for source in sources]):
        chosen, wanted = [[lines[i] for i in indices] for lines in translations], [references[i] for i in indices]
        scores = [score for lines in chosen if (score := corpus_bleu(lines, wanted, tokenizer)[0]) is not None]
        bleu = fmean(scores) if scores else None
        ends = interval(chosen, wanted, RESAMPLES, seed, tokenizer) if scores else (None, None)
        rows.append([label, low, high, len(indices), *(number(value, 2) for value in (bleu, *ends))])
    return rows


def run(arguments: argparse.Namespace) -> None:
    models = grouped(arguments.labels, "--translations", arguments.translations)
    files = [path for paths in models.values() for path in paths]
    source, reference, *translations = read_parallel(arguments.source, arguments.reference, *files)
    options, texts = (arguments.settings, arguments.seed, arguments.bleu_tokenizer), iter(translations)
    rows = [
        row
        for label, paths in models.items()
        for row in points(label, source, reference, list(islice(texts, len(paths))), *options)
    ]
    write_csv(arguments.output, COLUMNS, rows)
