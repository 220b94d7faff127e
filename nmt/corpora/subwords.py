"""Byte pair encoding (Sennrich et al., 2016): words as sequences of subwords, and back.

A subword that does not end its word carries the mark "@@", so that joining is the exact inverse of splitting. A word of
the text that ends in the mark itself could not be told from a subword; it is dropped, as is one of more than
LONGEST_WORD characters. `nmt.corpora.pieces` has the other kind of subwords, with the same methods.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nmt.system.errors import UserError, warn
from nmt.system.text import read_lines, write_lines

MARK = "@@"
LONGEST_WORD = 1000  # characters; a longer one is not a word, and is dropped because it would take hours
VERSION = "#version: 0.2"
END = "</w>"  # what a subword that ends its word carries in a file of codes


@dataclass(frozen=True)
class Codes:
    """The merges of pairs of symbols, in the order in which they were learned; equal ones do the same.

    Only the subwords in `known` are made, where it is given: a merge that makes any other is undone.
    """

    merges: tuple[tuple[str, str], ...]
    known: frozenset[str] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def _bpe(self) -> Any:
        from subword_nmt.apply_bpe import BPE  # here, so that models of words do without it

        return BPE(io.StringIO("\n".join(self._lines())), separator=MARK, vocab=self.known)

    @classmethod
    def read(cls, path: str | os.PathLike[str], symbols: Sequence[str] | None = None) -> Codes:
        """Read the codes that the step learn_bpe wrote; with `symbols`, a vocabulary, only its subwords are made.

        Raises UserError if the file is damaged, or if the vocabulary has a word that these codes cannot make.
        """
        lines = read_lines(path)
        if next(lines, None) != VERSION:
            raise UserError(f"{path}: no codes, because it does not begin with {VERSION}; learn them again")
        merges: list[tuple[str, str]] = []
        made: set[str] = set()
        for number, line in enumerate(lines, 2):
            first, _, second = line.partition(" ")
            if not all(_is_character(part) or part in made for part in (first, second)):
                raise UserError(f"{path}: line {number} does not merge two symbols made before; learn the codes again")
            merges.append((first, second))
            made.add(first + second)
        if not merges:
            raise UserError(f"{path}: no merges in it; learn the codes again")
        for symbol in symbols or ():
            code = symbol.removesuffix(MARK) if symbol.endswith(MARK) else symbol + END
            if not (_is_character(code) or code in made):
                raise UserError(
                    f"{path}: not the codes of this vocabulary, whose {symbol} they cannot make; name its own"
                )
        return cls(tuple(merges), None if symbols is None else frozenset(symbols))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `read` reads, atomically."""
        write_lines(path, self._lines())

    def _lines(self) -> list[str]:
        return [VERSION, *(" ".join(merge) for merge in self.merges)]

    def split(self, words: Iterable[str]) -> list[str]:
        """The subwords of `words`."""
        return self._bpe.segment_tokens(filter(is_divisible, words))

    def split_lines(self, lines: Iterable[Sequence[str]], name: str | os.PathLike[str]) -> Iterator[list[str]]:
        """The subwords of each line of the text `name`; warns of the words that were dropped."""
        dropped = 0
        for words in lines:
            dropped += sum(not is_divisible(word) for word in words)
            yield self.split(words)
        if dropped:
            warn(
                f"{name}: {dropped} words were dropped that end in {MARK}, which marks subwords, or have more than "
                f"{LONGEST_WORD} characters"
            )

    def join(self, symbols: Iterable[str]) -> list[str]:
        """The words of subwords; the last one ends, whether it is marked or not."""
        words: list[str] = []
        start = ""
        for symbol in symbols:
            if symbol.endswith(MARK):
                start += symbol.removesuffix(MARK)
            else:
                words.append(start + symbol)
                start = ""
        return [*words, start] if start else words

    def owners(self, symbols: Iterable[str]) -> list[int]:
        """The number of the word, from 0, that each subword belongs to."""
        numbers, word = [], 0
        for symbol in symbols:
            numbers.append(word)
            word += not symbol.endswith(MARK)
        return numbers


def is_divisible(word: str) -> bool:
    """Whether `word` has subwords: it does not end in the mark, and is not too long."""
    return not word.endswith(MARK) and len(word) <= LONGEST_WORD


def _is_character(code: str) -> bool:
    return len(code) == 1 or (len(code) == 1 + len(END) and code.endswith(END))
