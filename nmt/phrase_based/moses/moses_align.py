"""Align the words of the selected text with the aligner of the Moses installation: mgiza, or else fast_align.

Both directions are aligned at once, each by one thread: with several, neither program finds the same links twice.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from nmt.corpora.pairs import read_pairs, split_words
from nmt.phrase_based.links import read_links_of
from nmt.phrase_based.moses.files import corpus_options, encoded, work_folder
from nmt.phrase_based.moses.installation import PERL, Moses, add_moses_arguments, call, moses_of
from nmt.settings.experiment import MOSES_ALIGNERS
from nmt.system.errors import UserError
from nmt.system.files import atomic, check_regular
from nmt.system.options import Output, add_threads_argument
from nmt.system.programs import end_programs
from nmt.system.text import write_lines

HEURISTIC = "grow-diag-final-and"
PAUSE = 0.1  # seconds
ALIGNER = "check that the aligner and symal are those of Moses"


def check_links(path: Path, texts: list[Path], remedy: str = ALIGNER) -> None:
    """Raise UserError, which ends with `remedy`, unless there are links for every pair, between words of it."""
    pairs = ([split_words(line) for line in pair] for pair in read_pairs(*texts))
    for _ in read_links_of(pairs, path, remedy):
        pass


def with_mgiza(moses: Moses, texts: list[Path], threads: int, output: Path) -> None:
    """Align with mgiza, in steps 1 to 3 of Moses's training script."""
    for name in MOSES_ALIGNERS["mgiza"]:
        moses.program(name)
    with work_folder(output) as folder:
        options = ["-root-dir", str(folder), *corpus_options(texts, folder), "-alignment", HEURISTIC, "-mgiza"]
        options += ["-mgiza-cpus", "1", *(["-parallel"] if threads > 1 else [])]
        options += ["-external-bin-dir", str(moses.folder.resolve())]
        script = moses.script("train-model.perl")
        call([PERL, script, *options, "-first-step", "1", "-last-step", "3"], folder)
        with atomic(output) as partial:
            links = folder / "model" / f"aligned.{HEURISTIC}"
            check_links(links, texts)
            links.replace(partial)


def with_fast_align(moses: Moses, texts: list[Path], threads: int, output: Path) -> None:
    """Align with fast_align in both directions; atools symmetrizes."""
    fast_align, atools = moses.program("fast_align"), moses.program("atools")
    with work_folder(output) as folder:
        write_lines(folder / "text", (" ||| ".join(map(encoded, pair)) for pair in read_pairs(*texts)))
        command: list[str | Path] = [fast_align, "-i", folder / "text", "-d", "-o", "-v"]
        with ThreadPoolExecutor(min(threads, 2)) as pool:
            directions = [
                pool.submit(call, command, folder, output=folder / "direct"),
                pool.submit(call, [*command, "-r"], folder, output=folder / "inverse"),
            ]
            try:
                for direction in as_completed(directions):
                    direction.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                while not all(direction.done() for direction in directions):  # one may be about to start its program
                    end_programs()
                    time.sleep(PAUSE)
                raise
        with atomic(output) as partial:
            call([atools, "-i", folder / "direct", "-j", folder / "inverse", "-c", HEURISTIC], folder, output=partial)
            check_links(partial, texts)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_moses_arguments(parser)
    parser.add_argument("--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"), help="tokenized")
    add_threads_argument(parser, "threads of the program", required=True)
    parser.add_argument("--output", type=Output, required=True, help="the links of each pair on a line")


def run(arguments: argparse.Namespace) -> None:
    moses = moses_of(arguments)
    for path in arguments.texts:
        check_regular(path)  # it is read again after the alignment
    if moses.has("mgiza"):
        with_mgiza(moses, arguments.texts, arguments.threads, arguments.output)
    elif moses.has("fast_align"):
        with_fast_align(moses, arguments.texts, arguments.threads, arguments.output)
    else:
        raise UserError(f"{moses.folder}: neither mgiza nor fast_align is there; install one of them there")
