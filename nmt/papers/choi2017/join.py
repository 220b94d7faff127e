"""Join Table 1 or Table 2 of several pairs of languages, as the paper shows them."""

from __future__ import annotations

import argparse

from nmt.papers.choi2017 import table1, table2
from nmt.system.files import UserError, read_lines, write_lines
from nmt.system.options import Output
from nmt.system.tables import read_csv, write_csv


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tables", required=True, nargs="+", metavar="CSV", help="table1.csv, or table2.csv, of each pair"
    )
    parser.add_argument("--output-csv", type=Output, required=True)
    parser.add_argument("--output-md", type=Output, required=True)


def run(arguments: argparse.Namespace) -> None:
    first = next(read_lines(arguments.tables[0]), "")
    table = next((one for one in (table1, table2) if ",".join(one.COLUMNS) == first), None)
    if table is None:
        raise UserError(f"{arguments.tables[0]}: neither Table 1 nor Table 2 of this paper; name a CSV of its step")
    rows: list[list[str]] = []
    for path in arguments.tables:
        found = read_csv(path, table.COLUMNS)
        for pair in {row[0] for row in rows} & {row[0] for row in found}:
            raise UserError(f"{path}: {pair} is in an earlier table, too; name one table for each pair")
        rows += found
    page = table.markdown([dict(zip(table.COLUMNS, row, strict=True)) for row in rows])
    write_csv(arguments.output_csv, table.COLUMNS, rows)
    write_lines(arguments.output_md, page)
