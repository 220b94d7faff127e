"""Tokenize text like the Moses script: separate punctuation and contractions, escape special characters.

The output is exactly that of sacremoses with its defaults (escaping on, hyphens and case kept), only faster. Nearly
everything that sacremoses does to a string between two spaces depends on that string alone, so it is done once and
cached; what depends on the context (periods, and apostrophes and commas at the ends of a line) is done on the line.

A file may be tokenized in shards with a given number of lines, each in a job of its own: the concatenated outputs are
the output for the whole file, and the shards of the two sides of a corpus are aligned.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

from sacremoses import MosesTokenizer
from sacremoses.corpus import NonbreakingPrefixes

from nmt.corpora.languages import known_as
from nmt.settings.sections import language
from nmt.system.errors import UserError, warn
from nmt.system.options import Output
from nmt.system.progress import Progress
from nmt.system.text import decode_lines, write_lines

CACHED_STRINGS, CACHED_LENGTH = 1 << 18, 50  # about 60 MB; the length is in characters
DIGITS = frozenset("0123456789")
# Marks within the pieces of a line, of characters that str.split has removed from the text.
OPEN = ".\n"  # a final period; the next word decides whether it is separated
ODD = "\r"  # a string that can only be tokenized within its line


class Shard(NamedTuple):
    """Shard `number` (from 1) of the `of` shards of a file, with `lines` lines; the last has all remaining lines."""

    number: int = 1
    of: int = 1
    lines: int = 0

    def __str__(self) -> str:
        return "" if self.of == 1 else f" (shard {self.number} of {self.of})"


WHOLE = Shard()
NO_ABBREVIATIONS = "Moses has no abbreviations of this language and takes the English ones"


def has_abbreviations(language: str) -> bool:
    """Whether Moses knows abbreviations of the language, after which a period ends no sentence."""
    return known_as(language) in NonbreakingPrefixes().available_langs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--language",
        type=language,
        nargs="?",
        help="language code, such as en or fr; none for text that is tokenized already",
    )
    parser.add_argument("--input", type=Path, required=True, help="text with a sentence on each line")
    parser.add_argument("--output", type=Output, required=True)
    parser.add_argument(
        "--shard",
        type=int,
        nargs=3,
        default=WHOLE,
        metavar=("NUMBER", "SHARDS", "LINES"),
        help="tokenize only shard NUMBER, from 1, of SHARDS with LINES lines each; the last has the remaining lines "
        "(default: all lines)",
    )


def run(arguments: argparse.Namespace) -> None:
    shard = Shard(*arguments.shard)
    if not 1 <= shard.number <= shard.of or shard.lines < 0:
        raise UserError(f"--shard {' '.join(map(str, arguments.shard))}: expected a number from 1 to SHARDS, and LINES")
    if arguments.language and not has_abbreviations(arguments.language):
        warn(f"--language {arguments.language}: {NO_ABBREVIATIONS}")
    tokenize_file(arguments.language, arguments.input, arguments.output, shard)


def tokenize_file(language: str | None, source: Path, output: Path, shard: Shard = WHOLE) -> None:
    """Tokenize a shard of `source` line by line to `output`; empty lines stay empty.

    Where `language` is None, the words are those between white space.
    """
    tokenize = Tokenizer(language).line if language else spaced
    with Progress(f"tokenize {source.name}{shard}", None, "lines") as progress:
        write_lines(output, map(tokenize, progress.over(read_shard(source, shard))))


def spaced(line: str) -> str:
    """The words between white space, separated by single spaces."""
    return " ".join(line.split())


def read_shard(path: Path, shard: Shard) -> Iterator[str]:
    """Yield the lines of a shard of a UTF-8 file. Raises UserError, with shard and line, if a line is not UTF-8."""
    begin = (shard.number - 1) * shard.lines
    end = begin + shard.lines if shard.number < shard.of else None
    try:
        with open(path, "rb") as file:
            yield from decode_lines(islice(file, begin, end), f"{path}{shard}", begin + 1)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None


class _Pieces(dict[str, str]):
    """A cache of `make(string)` for strings that are not too long; it is cleared when it is full."""

    def __init__(self, make: Callable[[str], str]) -> None:
        self._make = make

    def __missing__(self, string: str) -> str:
        piece = self._make(string)
        if len(string) <= CACHED_LENGTH:
            if len(self) >= CACHED_STRINGS:
                self.clear()
            self[string] = piece
        return piece


class Tokenizer:
    """A faster `MosesTokenizer(language).tokenize(line)`.

    Character classes, expressions, abbreviations and the order of the steps are those of sacremoses; a step is skipped
    if the text has no character that it could change.
    """

    def __init__(self, language: str) -> None:
        language = known_as(language)
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
        self._unchanged = re.compile(f"[{moses.IsAlnum}-]+").fullmatch
        self._pieces = _Pieces(self._piece)

    def line(self, text: str) -> str:
        """The words of a line, separated by single spaces. The time is linear in its length."""
        strings = text.split()
        if not strings:
            return ""
        words = " ".join(map(self._pieces.__getitem__, strings))
        # Whether an apostrophe or comma is separated depends on both neighbours. At an end of the line one is missing;
        # and of two apostrophes with a space between them, the match of the first consumes the space.
        if strings[0][0] in ",'" or strings[-1][-1] in ",'" or "&apos; &apos;" in words or ODD in words:
            return self._whole(" ".join(strings))
        return self._closed(words) if OPEN in words else words

    def _piece(self, string: str) -> str:
        """The words of a string between two spaces; `OPEN` at the end if the next word decides on its period."""
        if self._unchanged(string) and "MULTI" not in string:
            return string
        if self._junk.search(string):
            return ODD
        words = self._cut(f" {string} ").split()
        last = words[-1]
        self._cut_periods(words)
        if words[-1] == last:
            return self._finished(" ".join(words))
        words[-1] = last[:-1]
        return self._finished(" ".join(words)) + OPEN

    def _closed(self, words: str) -> str:
        """The pieces of a line, each open period separated unless the next word prevents it."""
        parts = words.split(OPEN)
        closed = []
        for part, rest in pairwise(parts):
            following = rest[1:2]
            kept = following in self._lower or (following in DIGITS and part.rpartition(" ")[2] in self._before_numbers)
            closed += [part, "." if kept else " ."]
        return "".join([*closed, parts[-1]])

    def _whole(self, text: str) -> str:
        """The words of a line, by the steps of sacremoses on the whole line."""
        words = self._cut(self._junk.sub("", text).strip()).split()
        self._cut_periods(words)
        text = " ".join(words)
        if ".'" in text:
            text = " ".join(self._trailing.sub(self._trailed, text).split())
        return self._finished(text)

    def _cut(self, text: str) -> str:
        """The text with special characters, runs of periods, commas and apostrophes separated."""
        text = self._special.sub(self._padded, text)
        if ".." in text:
            text = self._cut_dots(text)
        if "," in text:
            for pattern, replacement in self._commas:
                text = pattern.sub(replacement, text)
        if "'" in text:
            for pattern, replacement in self._apostrophes:
                text = pattern.sub(replacement, text)
        return text

    def _cut_periods(self, words: list[str]) -> None:
        """Separate the final period of each word, unless it is an abbreviation or the next word is in lower case."""
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

    def _finished(self, text: str) -> str:
        """The text with runs of periods restored and special characters escaped."""
        if "MULTI" in text:
            text = self._join_dots(text)
        for character, entity in self._escapes:
            text = text.replace(character, entity)
        return text
