"""Tokenize text as the Moses script does: punctuation and contractions cut off, special characters escaped.

The words are exactly those of sacremoses with its defaults (escaping on, hyphens and case kept), one space between
them. Only time is saved: steps that cannot change a line are passed over, and the sets of characters that sacremoses
rebuilds for every period are built once.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from itertools import islice
from pathlib import Path

from sacremoses import MosesTokenizer
from sacremoses.corpus import NonbreakingPrefixes

from nmt.files import UserError, read_lines, warn, write_lines
from nmt.progress import Progress

LINES_PER_SHARD = 2000
DIGITS = frozenset("0123456789")
BYTES_WORTH_A_POOL = 4 << 20  # below, starting the workers takes longer than the text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--language", required=True, help="two letters, as en or fr")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--input", type=Path, required=True, help="text, a sentence a line")
    parser.add_argument("--output", type=Path, required=True)


def run(arguments: argparse.Namespace) -> None:
    if arguments.threads < 1:
        raise UserError(f"--threads {arguments.threads}: must be 1 or more")
    if arguments.language not in NonbreakingPrefixes().available_langs:
        warn(f"--language {arguments.language}: sacremoses has no abbreviations for it and takes the English ones")
    tokenize_file(arguments.language, arguments.input, arguments.output, arguments.threads)


def tokenize_file(language: str, source: Path, output: Path, threads: int = 1) -> None:
    """Tokenize `source` line by line to `output`, in `threads` processes; an empty line stays empty."""
    lines = read_lines(source)
    shards = iter(lambda: list(islice(lines, LINES_PER_SHARD)), [])
    try:
        small = source.stat().st_size < BYTES_WORTH_A_POOL
    except FileNotFoundError:
        raise UserError(f"{source}: no such file") from None
    with Progress(f"tokenize {source.name}", None, "lines") as progress:
        done = _in_turn(language, shards) if threads == 1 or small else _in_parallel(language, shards, threads)
        write_lines(output, _joined(done, progress))


def _joined(shards: Iterable[list[str]], progress: Progress) -> Iterator[str]:
    for shard in shards:
        yield from shard
        progress.update(len(shard))


def _in_turn(language: str, shards: Iterable[list[str]]) -> Iterator[list[str]]:
    for shard in shards:
        yield tokenize_shard(language, shard)


def _in_parallel(language: str, shards: Iterable[list[str]], threads: int) -> Iterator[list[str]]:
    """The tokenized shards in order; at most 2 for each process are in memory."""
    waiting: deque[Future[list[str]]] = deque()
    with ProcessPoolExecutor(threads, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            for shard in shards:
                waiting.append(pool.submit(tokenize_shard, language, shard))
                if len(waiting) >= 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise UserError("a worker was killed, perhaps for lack of memory; repeat with fewer --threads") from None
        finally:
            pool.shutdown(cancel_futures=True)


def tokenize_shard(language: str, lines: list[str]) -> list[str]:
    """Each line's words, joined by single spaces."""
    tokenizer = _tokenizer(language)
    return [tokenizer.line(line) for line in lines]


@cache
def _tokenizer(language: str) -> Tokenizer:
    return Tokenizer(language)


class Tokenizer:
    """`MosesTokenizer(language).tokenize(line)`, faster.

    Takes its character classes, expressions and abbreviations from sacremoses and follows its steps in their order,
    each only where the line holds a character that the step could change.
    """

    def __init__(self, language: str) -> None:
        moses = MosesTokenizer(language)
        self._junk = moses.ASCII_JUNK[0]
        self._special, self._padded = moses.PAD_NOT_ISALNUM
        self._commas = (moses.COMMA_SEPARATE_1, moses.COMMA_SEPARATE_2, moses.COMMA_SEPARATE_3)
        if language == "en":
            self._apostrophes = moses.ENGLISH_SPECIFIC_APOSTROPHE
        elif language in ("fr", "it"):
            self._apostrophes = moses.FR_IT_SPECIFIC_APOSTROPHE
        else:
            self._apostrophes = [moses.NON_SPECIFIC_APOSTROPHE]
        self._trailing, self._trailed = moses.TRAILING_DOT_APOSTROPHE
        self._cut_dots, self._join_dots = moses.replace_multidots, moses.restore_multidots
        self._alphabetic = frozenset(moses.IsAlpha)
        self._lower = frozenset(moses.IsLower)
        self._before_numbers = frozenset(moses.NUMERIC_ONLY_PREFIXES)
        self._abbreviations = frozenset(moses.NONBREAKING_PREFIXES) - self._before_numbers
        self._escapes = [
            (pattern.pattern.removeprefix("\\"), entity) for pattern, entity in moses.MOSES_ESCAPE_XML_REGEXES
        ]

    def line(self, text: str) -> str:
        """The words of one line, separated by single spaces; in time linear in its length."""
        text = self._junk.sub("", " ".join(text.split()))
        text = self._special.sub(self._padded, text.strip())
        if ".." in text:
            text = self._cut_dots(text)
        if "," in text:
            for pattern, replacement in self._commas:
                text = pattern.sub(replacement, text)
        if "'" in text:
            for pattern, replacement in self._apostrophes:
                text = pattern.sub(replacement, text)
        words = text.split()
        if "." in text:
            self._cut_periods(words)
        text = " ".join(words)
        if ".'" in text:
            text = " ".join(self._trailing.sub(self._trailed, text).split())
        if "MULTI" in text:
            text = self._join_dots(text)
        for character, entity in self._escapes:
            text = text.replace(character, entity)
        return text

    def _cut_periods(self, words: list[str]) -> None:
        """Cut the period off a word that it ends, unless the word is an abbreviation or the next in lower case."""
        for index, word in enumerate(words):
            if word[-1] != "." or len(word) == 1:
                continue
            prefix = word[:-1]
            following = words[index + 1][0] if index + 1 < len(words) else ""
            kept = (
                ("." in prefix and not self._alphabetic.isdisjoint(prefix))
                or prefix in self._abbreviations
                or following in self._lower
                or (prefix in self._before_numbers and following in DIGITS)
            )
            if not kept:
                words[index] = f"{prefix} ."
