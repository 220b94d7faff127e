"""Thot's phrase-based decoder, in several processes, with the models that the other steps trained.

A hypothesis has seven weighted scores and one without a weight, the length of the sentence.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache, partial
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import thot.alignment
import thot.translation

from nmt.phrase_based.text import SEPARATOR
from nmt.settings.sections import PhraseBased
from nmt.system.checksums import sha256, verify
from nmt.system.errors import UserError
from nmt.system.options import add_threads_argument
from nmt.system.stop import temporary_folder
from nmt.system.text import read_json, read_lines, write_json

WEIGHTS = (
    *("words", "language_model", "target_phrase_lengths", "jumps", "source_phrase_lengths"),
    *("target_given_source", "source_given_target"),
)
# Thot's names: swm predicts source words from target words, invswm target words from source words.
SIDES = {"invswm": "direct", "swm": "inverse"}
# The interpolation of phrase and word probabilities, and the lengths and cuts of phrases: Thot's own values.
SMALL_FILES = {
    "lambda": "0.7 0.7",
    "srcsegmlentable": "Uniform",
    "trgcutstable": "0.999",
    "trgsegmlentable": "Geometric",
}
SENTENCES_PER_TASK = 4
LONGEST = 200  # words; Thot does not translate longer sentences
LOCAL_HEURISTIC = 6  # phrases, language model and distortion estimate the cost of the untranslated words


class Hypothesis(NamedTuple):
    """A translation and its scores."""

    words: tuple[str, ...]
    scores: tuple[float, ...]


def add_decoder_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the models of the system and hold the settings."""
    parser.add_argument("--direct", type=Path, required=True, help="folder that the step thot_word_align wrote")
    parser.add_argument("--inverse", type=Path, required=True, help="folder of the other direction")
    parser.add_argument("--phrase-table", type=Path, required=True, help="phrase table from the step thot_phrase_table")
    parser.add_argument("--language-model", type=Path, required=True, help="folder of the step thot_language_model")
    PhraseBased.add_argument(parser)
    add_threads_argument(parser, "decoding processes", required=True)


@contextmanager
def assembled(arguments: argparse.Namespace, sentences: Sequence[Sequence[str]]) -> Iterator[Path]:
    """Yield a folder of all models under the names that Thot expects, with the phrases of `sentences` only."""
    settings: PhraseBased = arguments.settings
    with temporary_folder("phrase_based") as folder:
        for side, option in SIDES.items():
            for file in model_files(getattr(arguments, option), option, "thot_word_align"):
                (folder / f"tm_{side}{file.suffix}").symlink_to(file.resolve())
        for file in model_files(arguments.language_model, LANGUAGE_MODEL, "thot_language_model"):
            (folder / f"lm{file.suffix}").symlink_to(file.resolve())
        for ending, content in SMALL_FILES.items():
            (folder / f"tm.{ending}").write_text(content)
        phrases = {
            " ".join(words[first : first + length])
            for words in sentences
            for first in range(len(words))
            for length in range(1, settings.phrase_length + 1)
        }
        number = 0
        with open(folder / "tm.ttable", "w", encoding="utf-8", newline="\n") as table:
            for number, line in enumerate(read_lines(arguments.phrase_table), 1):
                match line.split(f" {SEPARATOR} "):
                    case [_, source, counts] if re.fullmatch("[0-9]+ [0-9]+", counts):
                        if source in phrases:
                            table.write(f"{line}\n")
                    case _:
                        raise UserError(
                            f"{arguments.phrase_table}: line {number} is no phrase pair; run thot_phrase_table"
                        )
        if not number:
            raise UserError(f"{arguments.phrase_table}: an empty phrase table; run the step thot_phrase_table")
        yield folder


def _start() -> None:
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent ends; otherwise it would wait for work forever after the parent was killed."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@cache
def _model(folder: Path, settings: PhraseBased) -> tuple[thot.translation.SmtModel, thot.translation.SmtDecoder]:
    """The models of this process, read for its first sentence: an error raised as the process starts would be lost."""
    model = thot.translation.SmtModel(thot.alignment.AlignmentModelType.FAST_ALIGN)
    for load, name in ((model.load_translation_model, "tm"), (model.load_language_model, "lm")):
        if not load(str(folder / name)):
            raise UserError(f"{folder / name}: Thot cannot read it; train the phrase-based system again")
    model.w = settings.translations
    model.a = settings.phrase_length
    model.non_monotonicity = settings.distortion_limit
    model.heuristic = LOCAL_HEURISTIC
    decoder = thot.translation.SmtDecoder(model)
    decoder.s = settings.stack
    decoder.is_breadth_first = True  # otherwise it stops at the first complete translation, often a poor one
    return model, decoder


def _decode(
    folder: Path, settings: PhraseBased, weights: Sequence[float], best: int, sentence: str
) -> list[Hypothesis]:
    """The `best` translations that the search finds; none for a sentence that is empty or too long."""
    if not 0 < len(sentence.split()) <= LONGEST:
        return []
    model, decoder = _model(folder, settings)
    model.weights = [*weights, 0.0]
    found = decoder.translate_n(sentence, best) if best > 1 else [decoder.translate(sentence)]
    return [Hypothesis(tuple(one.target), tuple(one.score_components[: len(WEIGHTS)])) for one in found]


class Decoders:
    """A pool of decoding processes, as a context manager."""

    def __init__(self, folder: Path, settings: PhraseBased, processes: int) -> None:
        os.environ["OMP_NUM_THREADS"] = "1"  # in each process
        self._executor = ProcessPoolExecutor(processes, get_context("spawn"), _start)
        self._folder, self._settings = folder, settings

    def __enter__(self) -> Decoders:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """End the processes, at once if there is an error: a sentence may take them minutes."""
        for process in active_children() if error else ():
            process.kill()
        self._executor.shutdown(cancel_futures=True)

    def decode(
        self, sentences: Sequence[Sequence[str]], weights: Sequence[float], best: int = 1
    ) -> Iterator[list[Hypothesis]]:
        """Yield the translations of each sentence in order. Raises UserError if a process dies."""
        decode = partial(_decode, self._folder, self._settings, weights, best)
        try:
            yield from self._executor.map(decode, map(" ".join, sentences), chunksize=SENTENCES_PER_TASK)
        except BrokenProcessPool:
            raise UserError(
                "--threads: a decoding process died, perhaps because memory ran out or a model is damaged; "
                "give fewer, or train the phrase-based system again"
            ) from None


LANGUAGE_MODEL = "model"  # its files begin so; those of a word alignment, with "direct" or "inverse"
LINKS = "links.txt"  # a line for each pair that a word alignment was trained on
MARKS = {"thot_word_align": ".yml", "thot_language_model": ".weights"}  # a file that other steps do not write ends so
DIGESTS = "digests.json"


def write_digests(folder: Path, name: str) -> None:
    """Write the digests of the model `name` in `folder`, once all its files are there."""
    write_json(folder / DIGESTS, {file.name: sha256(file) for file in sorted(folder.glob(f"{name}*"))})


def model_files(folder: Path, name: str, step: str) -> list[Path]:
    """The files of the model `name` that `step` wrote to `folder`; UserError if one is missing or damaged."""
    record, files = folder / DIGESTS, sorted(folder.glob(f"{name}*"))
    for needed in (folder / f"{name}{MARKS[step]}", record):
        if not needed.is_file():
            raise UserError(f"{needed}: no such file; run the step {step}, or name a folder that it wrote")
    digests = read_json(record)
    if not isinstance(digests, dict) or sorted(digests) != [file.name for file in files]:
        raise UserError(f"{record}: not of the files that are there; run the step {step}")
    verify(record, digests, f"run the step {step}")
    return files
