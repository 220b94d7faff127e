"""Join Table 1 or Table 2 of several pairs of languages, as the paper shows them."""

from __future__ import annotations

import argparse

from nmt.papers.choi2017 import table1, table2
from nmt.report.markup import add_table_arguments
from nmt.system.files import UserError, read_lines, write_lines
from nmt.system.tables import read_csv, write_csv


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
    for path in arguments.tables:
        found = read_csv(path, table.COLUMNS)
        if not found:
            raise UserError(f"{path}: no rows in it; make it again")
        for pair in {row[0] for row in rows} & {row[0] for row in found}:
            raise UserError(f"{path}: {pair} is in an earlier table, too; name one table for each pair")
        rows += found
    try:
        page = table.markdown([dict(zip(table.COLUMNS, row, strict=True)) for row in rows], arguments.generated)
    except ValueError as error:
        raise UserError(f"--tables: {error}; make the tables again") from None
    write_csv(arguments.output_csv, table.COLUMNS, rows)
    write_lines(arguments.output_md, page)
