"""Join Table 1 or Table 2 of several pairs of languages, as the paper shows them."""

from __future__ import annotations

import argparse

from nmt.papers.choi2017 import table1, table2
from nmt.report.markup import add_table_arguments
from nmt.system.files import UserError, read_lines, write_lines
from nmt.system.tables import read_csv, real, whole, write_csv

KEYS = ("pair", "model", "batch", "beam")  # of a row
TEXTS = ("pair", "model", "baseline", "device", "signature", "detokenized_signature")
COUNTS = ("batch", "beam", "sentences", "development_sentences")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tables", required=True, nargs="+", metavar="CSV", help="table1.csv, or table2.csv, of each pair"
    )
    add_table_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    first = next(read_lines(arguments.tables[0]), "")
    table = next((one for one in (table1, table2) if ",".join(one.COLUMNS) == first), None)
    if table is None:
        raise UserError(f"{arguments.tables[0]}: neither Table 1 nor Table 2 of this paper; name a CSV of its step")
    rows: list[list[str]] = []
    seen: set[tuple[str, ...]] = set()
    for path in arguments.tables:
        found = read_csv(path, table.COLUMNS)
        if not found:
            raise UserError(f"{path}: no rows in it; make it again")
        for pair in {row[0] for row in rows} & {row[0] for row in found}:
            raise UserError(f"{path}: {pair} is in an earlier table, too; name one table for each pair")
        for number, row in enumerate(found, 2):
            _check_numbers(dict(zip(table.COLUMNS, row, strict=True)), f"{path}: row {number}")
            key = tuple(cell for column, cell in zip(table.COLUMNS, row, strict=True) if column in KEYS)
            if key in seen:
                raise UserError(f"{path}: row {number} is there twice; make the table again")
            seen.add(key)
        rows += found
    page = table.markdown([dict(zip(table.COLUMNS, row, strict=True)) for row in rows], arguments.generated)
    write_csv(arguments.output_csv, table.COLUMNS, rows)
    write_lines(arguments.output_md, page)


def _check_numbers(row: dict[str, str], where: str) -> None:
    """UserError where a cell of numbers holds something else; what is not known is empty."""
    for column, cell in row.items():
        try:
            if column in COUNTS or (cell and column not in TEXTS):
                (whole if column in COUNTS else real)(cell)
        except ValueError as error:
            raise UserError(f"{where}: {column}: {error}; make the table again") from None
