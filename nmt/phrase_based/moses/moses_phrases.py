"""Train the phrase table and the reordering model of Moses: steps 4 to 8 of its training script."""

from __future__ import annotations

import argparse
import gzip
import re
import zlib
from pathlib import Path

from nmt.phrase_based.moses.files import ORIENTATION, TABLES, corpus_options, empty, work_folder
from nmt.phrase_based.moses.installation import PERL, add_moses_arguments, call, moses_of
from nmt.phrase_based.moses.moses_align import HEURISTIC, check_links
from nmt.settings.sections import PhraseBased
from nmt.system.errors import UserError
from nmt.system.files import check_regular, check_replaceable
from nmt.system.options import ReplacedFolder, add_threads_argument

MODEL = "model"  # where the training script reads and writes, in the folder of the output
LINKS = f"aligned.{HEURISTIC}"
# The names of what the script writes, up to what differs between its versions and steps.
WRITTEN = re.compile(r"(aligned|lex|extract|phrase-table|reordering-table|moses|tmp)\.")
TIMESTAMP = ".snakemake_timestamp"  # which Snakemake wrote for earlier versions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_moses_arguments(parser)
    parser.add_argument("--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"), help="tokenized")
    parser.add_argument("--links", type=Path, required=True, help="links from the step moses_align")
    add_threads_argument(parser, "threads of the program", required=True)
    parser.add_argument("--output", type=ReplacedFolder, required=True, help="folder, replaced as a whole")


def run(arguments: argparse.Namespace) -> None:
    settings: PhraseBased = arguments.settings
    script = moses_of(arguments).script("train-model.perl")
    for path in (*arguments.texts, arguments.links):
        check_regular(path)
    check_links(arguments.links, arguments.texts, "align these texts with the step moses_align")
    folder = arguments.output.resolve()
    links = folder / MODEL / LINKS
    if links.parent.is_dir():
        check_replaceable(links.parent, "a model of Moses", lambda path: WRITTEN.match(path.name) is not None)
    empty(folder, "moses_phrases", (MODEL, TIMESTAMP), is_earlier=links.is_symlink())
    links.parent.mkdir()
    links.symlink_to(arguments.links.resolve())
    options = ["-root-dir", str(folder), "-alignment", HEURISTIC, "-reordering", ORIENTATION]
    options += ["-max-phrase-length", str(settings.phrase_length)]
    options += ["-cores", str(arguments.threads), "-first-step", "4", "-last-step", "8"]
    with work_folder(folder) as work:
        call([PERL, script, *options, *corpus_options(arguments.texts, work)], folder)
    phrases, reordering = (count_lines(folder / MODEL / name) for name in TABLES)
    if phrases != reordering:
        raise UserError(
            f"{folder}: {phrases} phrase pairs, but {reordering} in the reordering table: a program was ended early; "
            "the log says why; repeat"
        )
    if not phrases:
        raise UserError(f"{folder}: the phrase table is empty; check the texts and their alignment")


def count_lines(table: Path) -> int:
    """The number of lines of a table. Raises UserError if it is not whole."""
    try:
        with gzip.open(table) as lines:
            return sum(1 for _ in lines)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{table}: cannot be read ({error}); the log says why") from None
