"""Translate tokenized text with Moses, by cube pruning; words that no phrase covers are copied."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from nmt.phrase_based.moses.files import decoded, encoded, system_files, work_folder, write_configuration
from nmt.phrase_based.moses.installation import PERL, Moses, add_moses_arguments, call, moses_of
from nmt.phrase_based.text import without_gaps
from nmt.settings.sections import PhraseBased
from nmt.system.errors import UserError
from nmt.system.files import check_apart
from nmt.system.options import Output, add_threads_argument
from nmt.system.text import read_lines, write_lines


def search_flags(settings: PhraseBased, threads: int) -> list[str]:
    """The options of the decoder that set the size of its search. Ties do not depend on addresses in memory."""
    stack = str(settings.stack)
    limits = ["-v", "0", "-search-algorithm", "1", "-cube-pruning-pop-limit", stack, "-s", stack]
    limits += ["-cube-pruning-deterministic-search", "true"]
    return [*limits, "-distortion-limit", str(settings.distortion_limit), "-threads", str(threads)]


def translate(moses: Moses, configuration: Path, flags: list[str], source: Path, work: Path) -> list[str]:
    """The translation of each line, by the phrases that it needs, which are written to the folder `work`.

    Raises UserError if Moses writes another number of lines.
    """
    sources = list(read_lines(source))
    with tempfile.TemporaryDirectory(dir=work) as name:
        folder = Path(name)
        given, output, filtered, system = (folder / name for name in ("source", "translation", "filtered", "whole.ini"))
        write_configuration(configuration, system)
        write_lines(given, map(encoded, sources))  # each with a newline, because Moses leaves out a line without one
        call([PERL, moses.script("filter-model-given-input.pl"), filtered, system, given], folder)
        call([moses.program("moses"), "-f", filtered / "moses.ini", *flags], folder, given, output)
        lines = [decoded(line.strip(" ")) for line in read_lines(output)]
    if len(lines) != len(sources):
        raise UserError(f"{source}: Moses wrote {len(lines)} lines for {len(sources)}; the log says why")
    return without_gaps(sources, lines, source)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_moses_arguments(parser)
    parser.add_argument("--configuration", type=Path, required=True, help="moses.ini from the step moses_tune")
    parser.add_argument("--source", type=Path, required=True, help="tokenized text, a sentence on each line")
    add_threads_argument(parser, "threads of the program", required=True)
    parser.add_argument("--output", type=Output, required=True, help="a translation for each line")


def run(arguments: argparse.Namespace) -> None:
    check_apart([arguments.output], system_files(arguments.configuration))
    flags = search_flags(arguments.settings, arguments.threads)
    with work_folder(arguments.output) as work:
        lines = translate(moses_of(arguments), arguments.configuration, flags, arguments.source, work)
    write_lines(arguments.output, lines)
