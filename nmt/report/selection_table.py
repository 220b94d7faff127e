"""The table of data selection: pairs and words of each corpus before and after, beside the words the paper states.

The paper counts French words after tokenization (Cho et al., 2014a, Section 4.1), so its numbers stand beside those of
the target side. It states no corpus's part of the text that it keeps.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from nmt.corpora.registry import read_registry
from nmt.corpora.select import AUDIT, TOTAL
from nmt.system.tables import Cell, read_csv, write_csv

COLUMNS = (*AUDIT, "paper_words", "paper_words_kept")
PAPER_TOTAL = (850_000_000, 348_000_000)  # Section 4.1; its corpora as listed there have 1,357.5 million


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--audit", required=True, help="CSV of the step select")
    parser.add_argument("--registry", required=True, help="of the corpora, with the paper's words")
    parser.add_argument("--output", required=True, help="CSV")


def rows(audit: list[list[str]], paper: dict[str, int]) -> list[list[Cell]]:
    """The audit's rows with the paper's words before and after; empty for corpora that the paper does not have."""
    beside: dict[str, tuple[Cell, Cell]] = {name: (words, None) for name, words in paper.items()}
    if any(row[0] in paper for row in audit):
        beside[TOTAL] = PAPER_TOTAL
    return [[*row, *beside.get(row[0], (None, None))] for row in audit]


def run(arguments: argparse.Namespace) -> None:
    registry = read_registry(Path(arguments.registry))
    paper = {name: corpus.words for name, corpus in registry.items() if corpus.words is not None}
    write_csv(arguments.output, COLUMNS, rows(read_csv(arguments.audit, AUDIT), paper))
