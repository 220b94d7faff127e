"""Compare texts that were selected in different ways: perplexity of language models on a test set, and BLEU.

KenLM trains an n-gram model on each side of each text. All models of a side share one closed vocabulary: the words
that occur at least twice in the texts together. Every other word, of the texts and of the test set, is mapped to one
unknown word; a word that a text lacks gets the probability that smoothing leaves for unseen words. Perplexities count
every word of the test set, unknown words included, and the ends of sentences. BLEU is that of models trained on the
texts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from nmt.corpora.pairs import byte_lines, read_pairs
from nmt.corpora.train_lm import estimate, load_model, mask, vocabulary
from nmt.evaluation.scores import check_alike, read_score
from nmt.evaluation.sentences import paired
from nmt.settings.checks import checked, integer
from nmt.system.errors import UserError
from nmt.system.options import Output
from nmt.system.stop import temporary_folder
from nmt.system.tables import Cell, number, write_csv

COLUMNS = (
    *("text", "pairs", "source_words", "target_words", "source_vocabulary", "target_vocabulary"),
    *("source_unseen_percent", "target_unseen_percent", "source_perplexity", "target_perplexity", "bleu"),
)


def closed_model(lmplz: str, order: int, text: Path, known: frozenset[bytes]) -> Any:
    """A language model (kenlm.Model) of `text` over the vocabulary `known`, see `estimate`."""
    with temporary_folder("evidence") as folder:
        arpa = folder / f"{text.name}.arpa"
        estimate(lmplz, order, byte_lines(text), known, arpa, arpa)
        return load_model(arpa)


def perplexity(model: Any, known: frozenset[bytes], test: Path) -> float:
    """The perplexity of `model` on `test`."""
    log10_probability, words = 0.0, 0
    for line in byte_lines(test):
        masked, length = mask(line, known)
        log10_probability += model.score(masked)
        words += length + 1
    return float(10 ** (-log10_probability / words))


def unseen_percent(text: Path, test: Path) -> float:
    """The percentage of the words of `test` that do not occur in `text`."""
    seen = {word for line in byte_lines(text) for word in line.split()}
    words = [word for line in byte_lines(test) for word in line.split()]
    return 100 * sum(word not in seen for word in words) / len(words)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lmplz", required=True, help="KenLM's program that trains language models")
    parser.add_argument("--order", type=int, default=4, help="order of the language models (default: %(default)s)")
    parser.add_argument("--labels", required=True, nargs="+", help="the names of the texts")
    parser.add_argument("--sources", required=True, nargs="+", help="tokenized source sides, one file for each text")
    parser.add_argument("--targets", required=True, nargs="+", help="tokenized target sides")
    parser.add_argument("--test", required=True, nargs=2, type=Path, metavar=("SOURCE", "TARGET"), help="tokenized")
    parser.add_argument(
        "--evaluations", nargs="+", help="JSON of the step evaluate, one file for each text, once its model is trained"
    )
    parser.add_argument("--output", type=Output, required=True, help="CSV")


def side(lmplz: str, order: int, texts: Sequence[Path], test: Path) -> list[tuple[int, int, float, float]]:
    """For one side of each text: its words, the size of the vocabulary, the unseen percentage and the perplexity."""
    if not any(line.split() for line in byte_lines(test)):
        raise UserError(f"{test}: holds no words to measure perplexity on; name another test set")
    known = vocabulary(chain.from_iterable(byte_lines(text) for text in texts))
    found = []
    for text in texts:
        print(f"evidence: training a language model on {text}", file=sys.stderr, flush=True)
        words = sum(len(line.split()) for line in byte_lines(text))
        if not words:
            raise UserError(f"{text}: holds no words to train a language model on; name another text")
        model = closed_model(lmplz, order, text, known)
        found.append((words, len(known), unseen_percent(text, test), perplexity(model, known, test)))
    return found


def run(arguments: argparse.Namespace) -> None:
    checked(arguments.order, integer(2, 6), "--order")
    labels = arguments.labels
    evaluations = arguments.evaluations or [""] * len(labels)
    for option, files in (
        ("--sources", arguments.sources),
        ("--targets", arguments.targets),
        ("--evaluations", evaluations),
    ):
        paired(labels, option, files)
    texts = [*zip(arguments.sources, arguments.targets, strict=True), arguments.test]
    pairs = [sum(1 for _ in read_pairs(source, target)) for source, target in texts]
    scores = {path: read_score(path)["all"] for path in evaluations if path}
    if scores:
        check_alike({str(arguments.test[0]): {"sentences": pairs[-1]}, **scores}, "sentences")
        check_alike(scores, "signature")
    sources, targets = (
        side(arguments.lmplz, arguments.order, list(map(Path, files)), test)
        for files, test in zip((arguments.sources, arguments.targets), arguments.test, strict=True)
    )
    rows: list[list[Cell]] = []
    for label, pair_count, evaluation, source, target in zip(
        labels, pairs[:-1], evaluations, sources, targets, strict=True
    ):
        counts = [cell for column in (0, 1) for cell in (source[column], target[column])]
        measures = [number(cell, 2) for column in (2, 3) for cell in (source[column], target[column])]
        bleu = scores[evaluation]["bleu"] if evaluation else None
        rows.append([label, pair_count, *counts, *measures, number(bleu, 2)])
    write_csv(arguments.output, COLUMNS, rows)
