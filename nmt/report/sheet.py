"""Make a page of a table for the report, with its numbers as a CSV file to download."""

from __future__ import annotations

import argparse
import base64
from pathlib import Path

from nmt.report.markup import add_generated_argument
from nmt.report.page import document, escape, show_table
from nmt.system.errors import UserError
from nmt.system.options import Output
from nmt.system.text import write_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--table", required=True, metavar="FILE", help="the table to show, .md or .csv")
    parser.add_argument("--numbers", required=True, metavar="CSV", help="its numbers, for download from the page")
    add_generated_argument(parser)
    parser.add_argument("--output", type=Output, required=True, metavar="HTML")


def run(arguments: argparse.Namespace) -> None:
    numbers = Path(arguments.numbers)
    try:
        held = base64.b64encode(numbers.read_bytes()).decode()
    except FileNotFoundError:
        raise UserError(f"{numbers}: no such file") from None
    link = f'<a download="{escape(numbers.name)}" href="data:text/csv;base64,{held}">{escape(numbers.name)}</a>'
    body = f"{show_table(arguments.table)}\n<p>The numbers: {link}</p>"
    write_lines(arguments.output, [document(numbers.stem, body, generated=arguments.generated)])
