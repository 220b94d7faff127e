"""Thot's phrase-based decoder with the parts that the other steps have made, in several processes.

A hypothesis has seven weighted scores and one that is not weighted, the length of the sentence.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread

import thot.alignment
import thot.translation

from nmt.corpora.pairs import split_words
from nmt.phrase_based.thot import thot_language_model, thot_word_align
from nmt.system.files import UserError, read_lines

WEIGHTS = (
    *("words", "language_model", "target_phrase_lengths", "jumps", "source_phrase_lengths"),
    *("target_given_source", "source_given_target"),
)
SEPARATOR = " ||| "
# Thot's names: swm gives source words from target words, invswm target words from source words.
SIDES = {"invswm": "direct", "swm": "inverse"}
# How phrase and word probabilities are mixed, and the lengths and cuts of phrases: Thot's own values.
SMALL_FILES = {
    "lambda": "0.7 0.7",
    "srcsegmlentable": "Uniform",
    "trgcutstable": "0.999",
    "trgsegmlentable": "Geometric",
}
SENTENCES_A_TASK = 4
LOCAL_HEURISTIC = 6  # the rest of a hypothesis is estimated by phrases, language model and distortion


@dataclass(frozen=True)
class Search:
    """The size of the search."""

    stack: int
    reordering: int
    longest: int
    translations: int


@dataclass(frozen=True)
class Hypothesis:
    """A translation and its scores."""

    words: tuple[str, ...]
    scores: tuple[float, ...]


def add_decoder_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that name the parts of the system and the size of the search."""
    parser.add_argument("--direct", type=Path, required=True, help="the folder of the step word_align")
    parser.add_argument("--inverse", type=Path, required=True, help="that of the other direction")
    parser.add_argument("--phrase-table", type=Path, required=True)
    parser.add_argument("--language-model", type=Path, required=True, help="the folder of the step language_model")
    parser.add_argument("--stack", type=int, default=10, help="hypotheses of a stack")
    parser.add_argument("--reordering", type=int, default=0, help="source words that may be skipped (0: monotone)")
    parser.add_argument("--longest", type=int, default=7, help="words of a source phrase")
    parser.add_argument("--translations", type=int, default=20, help="of a source phrase")
    parser.add_argument("--threads", type=int, default=1, help="processes that decode")


@contextmanager
def assembled(arguments: argparse.Namespace, sentences: Sequence[Sequence[str]]) -> Iterator[Path]:
    """A folder in which all parts have the names that Thot expects, with the phrases of `sentences` alone."""
    with tempfile.TemporaryDirectory(prefix="phrase_based.") as name:
        folder = Path(name)
        for side, option in SIDES.items():
            files = sorted(getattr(arguments, option).glob(f"{thot_word_align.MODEL}.*"))
            if not files:
                raise UserError(f"{getattr(arguments, option)}: no word alignment in it; run the step word_align")
            for file in files:
                (folder / f"tm_{side}{file.suffix}").symlink_to(file.resolve())
        for ending in ("", ".weights", ".wp"):
            file = arguments.language_model / f"{thot_language_model.MODEL}{ending}"
            if not file.exists():
                raise UserError(f"{file}: no such file; run the step language_model")
            (folder / f"lm{ending}").symlink_to(file.resolve())
        for ending, content in SMALL_FILES.items():
            (folder / f"tm.{ending}").write_text(content)
        phrases = {
            " ".join(words[first : first + length])
            for words in sentences
            for first in range(len(words))
            for length in range(1, arguments.longest + 1)
        }
        empty = True
        with open(folder / "tm.ttable", "w", encoding="utf-8", newline="\n") as table:
            for line in read_lines(arguments.phrase_table):
                empty = False
                if line.split(SEPARATOR)[1] in phrases:
                    table.write(f"{line}\n")
        if empty:
            raise UserError(f"{arguments.phrase_table}: an empty phrase table; run the step phrase_table")
        yield folder


class Worker:
    """The decoder of one process."""

    def __init__(self, folder: Path, search: Search) -> None:
        self.model = thot.translation.SmtModel(thot.alignment.AlignmentModelType.FAST_ALIGN)
        for load, name in ((self.model.load_translation_model, "tm"), (self.model.load_language_model, "lm")):
            if not load(str(folder / name)):
                raise UserError(f"{folder / name}: Thot cannot read it; make the phrase-based system again")
        self.model.w = search.translations
        self.model.a = search.longest
        self.model.non_monotonicity = search.reordering
        self.model.heuristic = LOCAL_HEURISTIC
        self.decoder = thot.translation.SmtDecoder(self.model)
        self.decoder.s = search.stack
        self.decoder.is_breadth_first = True  # else it stops at the first whole translation, often far from the best

    def decode(self, sentence: str, weights: Sequence[float], best: int) -> list[Hypothesis]:
        """The `best` translations that are found; none of an empty sentence."""
        if not sentence:
            return []
        self.model.weights = [*weights, 0.0]
        found = self.decoder.translate_n(sentence, best) if best > 1 else [self.decoder.translate(sentence)]
        return [Hypothesis(tuple(one.target), tuple(one.score_components[: len(WEIGHTS)])) for one in found]


_worker: Worker | None = None


def _start(folder: Path, search: Search) -> None:
    global _worker
    Thread(target=_end_with_parent, daemon=True).start()
    _worker = Worker(folder, search)


def _end_with_parent() -> None:
    """A process whose parent was killed would wait for work for ever."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _decode(task: tuple[str, Sequence[float], int]) -> list[Hypothesis]:
    assert _worker is not None
    return _worker.decode(*task)


class Decoders:
    """Decoders in processes of their own; as a context manager."""

    def __init__(self, folder: Path, search: Search, processes: int) -> None:
        os.environ["OMP_NUM_THREADS"] = "1"  # of each process
        self._executor = ProcessPoolExecutor(processes, get_context("spawn"), _start, (folder, search))

    def __enter__(self) -> Decoders:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown(cancel_futures=True)

    def decode(
        self, sentences: Sequence[Sequence[str]], weights: Sequence[float], best: int = 1
    ) -> Iterator[list[Hypothesis]]:
        """The translations of each sentence in order; UserError where a process ends before its time."""
        tasks = [(" ".join(words), tuple(weights), best) for words in sentences]
        try:
            yield from self._executor.map(_decode, tasks, chunksize=SENTENCES_A_TASK)
        except BrokenProcessPool:
            raise UserError(
                "--threads: a decoding process has ended, for lack of memory perhaps; give fewer, or a smaller table"
            ) from None


def search_of(arguments: argparse.Namespace) -> Search:
    """The size of the search that the options name."""
    return Search(arguments.stack, arguments.reordering, arguments.longest, arguments.translations)


def read_sentences(path: Path) -> list[list[str]]:
    """The words of each line."""
    return [split_words(line) for line in read_lines(path)]
