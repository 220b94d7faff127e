"""Join Table 1 or Table 2 of several pairs of languages, as the paper shows them."""

from __future__ import annotations

import argparse
import re
from types import ModuleType

from nmt.papers.choi2017 import table1, table2
from nmt.papers.choi2017.printed import check_number
from nmt.report.markup import add_table_arguments
from nmt.system.errors import UserError
from nmt.system.tables import header_of_csv, read_csv, whole, write_csv
from nmt.system.text import write_lines

KEYS = ("pair", "model", "batch", "beam")  # of a row
TEXTS = ("pair", "model", "baseline", "device", "signature", "detokenized_signature")
COUNTS = ("batch", "beam", "sentences", "development_sentences", "seeds")
MAY_BE_EMPTY = re.compile("more_seconds|paper_.*|.*_ceiling|.*_sd")  # columns that hold nothing where nothing is known
ONE = {"seeds": "1"}  # what a table of models with one seed each does not say
LAYOUTS = {
    columns: (table, columns)
    for table, columns in ((table1, table1.COLUMNS), (table1, table1.WITH_SEEDS), (table2, table2.COLUMNS))
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tables", required=True, nargs="+", metavar="CSV", help="table1.csv, or table2.csv, of each pair"
    )
    add_table_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    table, columns = _layout(arguments.tables[0])
    rows: list[dict[str, str]] = []
    seen: set[tuple[str, ...]] = set()
    for path in arguments.tables:
        layout = _layout(path)
        if layout[0] is not table:
            raise UserError(f"{path}: another table than {arguments.tables[0]}; join those of one kind")
        columns = max(columns, layout[1], key=len)
        found = [dict(zip(layout[1], row, strict=True)) for row in read_csv(path, layout[1])]
        if not found:
            raise UserError(f"{path}: no rows in it; make it again")
        for pair in {row["pair"] for row in rows} & {row["pair"] for row in found}:
            raise UserError(f"{path}: {pair} is in an earlier table, too; name one table for each pair")
        for number, row in enumerate(found, 2):
            _check_numbers(row, f"{path}: row {number}")
            key = tuple(cell for column, cell in row.items() if column in KEYS)
            if key in seen:
                raise UserError(f"{path}: row {number} is there twice; make the table again")
            seen.add(key)
        rows += found
    page = table.markdown(rows, arguments.generated)
    write_csv(arguments.output_csv, columns, [[row.get(column, ONE.get(column)) for column in columns] for row in rows])
    write_lines(arguments.output_md, page)


def _layout(path: str) -> tuple[ModuleType, tuple[str, ...]]:
    """The module of the table in a file, and its columns. Raises UserError."""
    header = header_of_csv(path)
    if header not in LAYOUTS:
        raise UserError(f"{path}: neither Table 1 nor Table 2 of this paper; name a CSV of its step")
    return LAYOUTS[header]


def _check_numbers(row: dict[str, str], where: str) -> None:
    """UserError where a cell of numbers holds something else; what may be unknown may be empty."""
    for column, cell in row.items():
        try:
            if column in COUNTS:
                whole(cell)
            elif column not in TEXTS and (cell or not MAY_BE_EMPTY.fullmatch(column)):
                check_number(column, cell)
        except ValueError as error:
            raise UserError(f"{where}: {column}: {error}; make the table again") from None
