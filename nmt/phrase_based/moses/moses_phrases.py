"""Train the phrase table and the reordering model of Moses: steps 4 to 9 of its training script.

In the folder of the output, model/moses.ini is the system before tuning.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import zlib
from pathlib import Path

from nmt.phrase_based.moses.files import (
    CONFIGURATION,
    ORIENTATION,
    TABLES,
    copy_configuration,
    corpus_options,
    work_folder,
)
from nmt.phrase_based.moses.installation import PERL, add_moses_arguments, call, moses_of
from nmt.phrase_based.moses.moses_align import HEURISTIC, check_links
from nmt.settings.sections import PhraseBased
from nmt.system.errors import UserError
from nmt.system.files import check_regular, check_replaceable
from nmt.system.options import ReplacedFolder, add_threads_argument

LINKS = f"aligned.{HEURISTIC}"
KENLM = 8  # the script's number for models of KenLM


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_moses_arguments(parser)
    parser.add_argument("--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"), help="tokenized")
    parser.add_argument("--links", type=Path, required=True, help="links from the step moses_align")
    parser.add_argument("--language-model", type=Path, required=True, help="model from the step moses_language_model")
    add_threads_argument(parser, "threads of the program", required=True)
    parser.add_argument("--output", type=ReplacedFolder, required=True, help="folder, replaced as a whole")


def run(arguments: argparse.Namespace) -> None:
    settings: PhraseBased = arguments.settings
    script = moses_of(arguments).script("train-model.perl")
    for path in (*arguments.texts, arguments.links, arguments.language_model):
        check_regular(path)
    check_links(arguments.links, arguments.texts, "align these texts with the step moses_align")
    if not arguments.language_model.stat().st_size:
        raise UserError(f"{arguments.language_model}: empty; train it with the step moses_language_model")
    folder = arguments.output.resolve()
    check_replaceable(folder, "a model of Moses", is_own)
    remove(folder)
    (folder / "model").mkdir(parents=True)
    (folder / "model" / LINKS).symlink_to(arguments.links.resolve())
    options = ["-root-dir", str(folder), "-alignment", HEURISTIC, "-reordering", ORIENTATION]
    options += ["-max-phrase-length", str(settings.phrase_length)]
    options += ["-lm", f"0:{settings.order}:{arguments.language_model.resolve()}:{KENLM}"]
    options += ["-cores", str(arguments.threads), "-first-step", "4", "-last-step", "9"]
    with work_folder(folder) as work:
        call([PERL, script, *options, *corpus_options(arguments.texts, work)], folder)
    phrases, reordering = (count_lines(folder / "model" / name) for name in TABLES)
    if phrases != reordering:
        raise UserError(
            f"{folder}: {phrases} phrase pairs, but {reordering} in the reordering table: a program was ended early; "
            "the log says why; repeat"
        )
    if not phrases:
        raise UserError(f"{folder}: the phrase table is empty; check the texts and their alignment")
    configuration = folder / "model" / CONFIGURATION
    copy_configuration(configuration, configuration, relative=True)


def is_own(path: Path) -> bool:
    """Whether `path` is the folder `model` of this step, or what Snakemake leaves: an empty folder or its timestamp."""
    empty = path.is_dir() and not any(path.iterdir())
    return empty or os.path.lexists(path / LINKS) or path.name == ".snakemake_timestamp"


def remove(folder: Path) -> None:
    """Remove what this step has written; last the links, by which a folder is known whose removal was interrupted."""
    for path in (folder / "model").glob("*"):
        if path.name != LINKS:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def count_lines(table: Path) -> int:
    """The number of lines of a table. Raises UserError if it is not whole."""
    try:
        with gzip.open(table) as lines:
            return sum(1 for _ in lines)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{table}: cannot be read ({error}); the log says why") from None
