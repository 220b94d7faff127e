"""Make the table of data selection: pairs and words of each corpus before and after it."""

from __future__ import annotations

import argparse

from nmt.corpora.select import AUDIT, TOTAL
from nmt.system.errors import UserError
from nmt.system.options import Output
from nmt.system.tables import Cell, read_csv, read_tsv, real, whole, write_csv

PRINTED = ("words", "words_kept")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--audit", required=True, help="CSV of the step select")
    parser.add_argument(
        "--printed",
        nargs="?",
        metavar="TSV",
        help="words that a paper states for its corpora, to stand beside (default: none)",
    )
    parser.add_argument("--output", type=Output, required=True, help="CSV")


def read_printed(path: str) -> dict[str, list[Cell]]:
    """corpus or total -> the paper's words before and after selection, None where it states none. Raises UserError."""
    return {corpus: [cell or None for cell in cells] for corpus, *cells in read_tsv(path, ["corpus", *PRINTED])}


def run(arguments: argparse.Namespace) -> None:
    audit = read_csv(arguments.audit, AUDIT)
    if not audit or audit[-1][0] != TOTAL:
        raise UserError(f"{arguments.audit}: ends without the row {TOTAL}; make the file again")
    for number, row in enumerate(audit, 2):
        try:
            for count in row[1:-1]:
                whole(count)
            if row[-1]:
                real(row[-1])
        except ValueError as error:
            raise UserError(f"{arguments.audit}: row {number}: {error}; make the file again") from None
    if arguments.printed is None:
        write_csv(arguments.output, AUDIT, audit)
        return
    printed = read_printed(arguments.printed)
    if not any(row[0] in printed for row in audit if row[0] != TOTAL):
        printed = {}  # other text: the paper's total says nothing about it
    nothing: list[Cell] = [None] * len(PRINTED)
    rows = [[*row, *printed.get(row[0], nothing)] for row in audit]
    write_csv(arguments.output, [*AUDIT, *(f"paper_{column}" for column in PRINTED)], rows)
