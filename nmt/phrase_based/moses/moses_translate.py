"""Translate tokenized text with Moses: cube pruning, and words that no phrase has copied."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from nmt.phrase_based.moses.installation import Moses, add_moses_arguments, call, moses_of
from nmt.phrase_based.text import without_gaps
from nmt.system.files import UserError, read_lines, write_lines


def search_flags(stack: int, reordering: int, threads: int) -> list[str]:
    """The decoder's options: the size of its search."""
    limits = ["-search-algorithm", "1", "-cube-pruning-pop-limit", str(stack), "-s", str(stack)]
    return [*limits, "-distortion-limit", str(reordering), "-threads", str(threads)]


def translate(moses: Moses, configuration: Path, flags: list[str], source: Path) -> list[str]:
    """The translation of each line; UserError where there are more or fewer."""
    with tempfile.TemporaryDirectory(prefix="moses_decode.") as folder:
        output = Path(folder) / "translation"
        call([moses.program("moses"), "-f", configuration, *flags], source, output)
        lines = [line.strip(" ") for line in read_lines(output)]
    sources = list(read_lines(source))
    if len(lines) != len(sources):
        raise UserError(f"{source}: Moses wrote {len(lines)} lines for {len(sources)}; the log says why")
    return without_gaps(sources, lines, source)


def add_search_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that set the size of the search."""
    parser.add_argument("--stack", type=int, default=100, help="hypotheses of a stack")
    parser.add_argument("--reordering", type=int, default=6, help="source words that may be skipped")
    parser.add_argument("--threads", type=int, default=1)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `python -m nmt moses_decode`."""
    add_moses_arguments(parser)
    add_search_arguments(parser)
    parser.add_argument("--configuration", type=Path, required=True, help="moses.ini of the step moses_tune")
    parser.add_argument("--source", type=Path, required=True, help="tokenized, one sentence a line")
    parser.add_argument("--output", type=Path, required=True, help="as many lines")


def run(arguments: argparse.Namespace) -> None:
    """Translate every line."""
    flags = search_flags(arguments.stack, arguments.reordering, arguments.threads)
    write_lines(arguments.output, translate(moses_of(arguments), arguments.configuration, flags, arguments.source))
