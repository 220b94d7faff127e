"""What texts selected in different ways are worth: the perplexity of language models on a test set, and BLEU.

For each side of each text an n-gram model is estimated with KenLM. All models of a side share one closed vocabulary,
the words that the texts together have twice or more: every other word, of the texts and of the test set, is one
unknown word, and a word that a text lacks has the probability that the smoothing leaves for words not seen.
Perplexities count every word of the test set, unknown ones too, and the ends of the sentences. BLEU is that of models
trained on the texts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from nmt.corpora.clean import count_words
from nmt.corpora.pairs import byte_lines
from nmt.corpora.train_lm import estimate, load_model, mask, vocabulary
from nmt.evaluation.sentences import paired
from nmt.report.markup import number
from nmt.system.files import UserError, read_json
from nmt.system.tables import Cell, write_csv

SPECIAL_WORDS = 2  # the one that stands for all that are not in the vocabulary, and the end of the sentence
COLUMNS = (
    *("text", "pairs", "source_words", "target_words", "source_vocabulary", "target_vocabulary"),
    *("source_unseen_percent", "target_unseen_percent", "source_perplexity", "target_perplexity", "bleu"),
)


def closed_model(lmplz: Path, order: int, text: Path, known: frozenset[bytes]) -> Any:
    """A language model (kenlm.Model) of `text` whose probabilities add up to one over `known` and the unknown word."""
    with tempfile.TemporaryDirectory(prefix="evidence.") as folder:
        arpa = Path(folder) / f"{text.name}.arpa"
        estimate(lmplz, order, byte_lines(text), known, arpa, "--vocab_pad", str(len(known) + SPECIAL_WORDS))
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
    """The share of the words of `test` that `text` does not have at all."""
    seen = {word for line in byte_lines(text) for word in line.split()}
    words = [word for line in byte_lines(test) for word in line.split()]
    return 100 * sum(word not in seen for word in words) / len(words)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lmplz", required=True, type=Path, help="KenLM's program that estimates models")
    parser.add_argument("--order", type=int, default=4, help="of the language models")
    parser.add_argument("--labels", required=True, nargs="+", help="the names of the texts")
    parser.add_argument("--sources", required=True, nargs="+", help="tokenized, one file a text")
    parser.add_argument("--targets", required=True, nargs="+")
    parser.add_argument("--test", required=True, nargs=2, type=Path, metavar=("SOURCE", "TARGET"), help="tokenized")
    parser.add_argument("--evaluations", nargs="+", help="of the step evaluate, one a text, if there are models yet")
    parser.add_argument("--output", required=True, help="CSV")


def side(lmplz: Path, order: int, texts: Sequence[Path], test: Path) -> list[tuple[int, int, float, float]]:
    """For one side of each text its words, the vocabulary's, the unseen share of the test set and the perplexity."""
    if not any(count_words(line) for line in byte_lines(test)):
        raise UserError(f"{test}: holds no words to measure perplexity on")
    known = vocabulary(chain.from_iterable(byte_lines(text) for text in texts))
    found = []
    for text in texts:
        print(f"evidence: a model of {text}", file=sys.stderr, flush=True)
        words = sum(count_words(line) for line in byte_lines(text))
        model = closed_model(lmplz, order, text, known)
        found.append((words, len(known), unseen_percent(text, test), perplexity(model, known, test)))
    return found


def run(arguments: argparse.Namespace) -> None:
    labels = arguments.labels
    evaluations = arguments.evaluations or [""] * len(labels)
    paired(labels, "--evaluations", evaluations)
    sources, targets = (
        side(arguments.lmplz, arguments.order, [Path(text) for _, text in paired(labels, option, texts)], test)
        for option, texts, test in zip(
            ("--sources", "--targets"), (arguments.sources, arguments.targets), arguments.test, strict=True
        )
    )
    rows: list[list[Cell]] = []
    for label, text, evaluation, source, target in zip(
        labels, arguments.sources, evaluations, sources, targets, strict=True
    ):
        pairs = sum(1 for _ in byte_lines(text))
        counts = [cell for column in (0, 1) for cell in (source[column], target[column])]
        measures = [number(cell, 2) for column in (2, 3) for cell in (source[column], target[column])]
        bleu = read_json(evaluation)["all"]["bleu"] if evaluation else None
        rows.append([label, pairs, *counts, *measures, number(bleu, 2)])
    write_csv(arguments.output, COLUMNS, rows)
