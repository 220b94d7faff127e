"""Make the shortlist of one language: the most frequent words of that side of the training text (Section 4.1).

Each line of the file is "symbol<TAB>count", and the number of the line, from 0, is the id of the symbol: 0 is the end
of a sentence, 1 the unknown word, and words follow by descending count (ties by code point). A shortlist of size n
holds the unknown word and n - 1 words; the end of the sentence does not count. The original code keeps n - 2 words
beside its special symbols: with n = 30,000 it has 29,998 words, and only ours knows the 29,999th.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nmt.corpora.pairs import split_words
from nmt.corpora.pieces import BYTES, Pieces, Subwords, read_subwords
from nmt.corpora.subwords import MARK
from nmt.settings import sections
from nmt.system.errors import UserError, warn
from nmt.system.options import Output
from nmt.system.progress import Progress
from nmt.system.tables import whole
from nmt.system.text import read_lines, write_lines

MARKED = 20  # a vocabulary has subwords if more than one symbol in this many ends in their mark
EOS = 0
UNK = 1
EOS_SYMBOL = "<eos>"
UNK_SYMBOL = "<unk>"
UNK_WORD = "UNK"  # the unknown word in translations
# In the text these words would be mistaken for our own symbols, so they count as unknown.
RESERVED = frozenset({EOS_SYMBOL, UNK_SYMBOL, UNK_WORD})


@dataclass(frozen=True)
class Shortlist:
    """The symbols of one language; the id of a symbol is its position.

    `symbols` starts with "<eos>" and "<unk>"; `counts[i]` is the count of symbol i in the training text. With `codes`
    the symbols are subwords, and without them words.
    """

    symbols: tuple[str, ...]
    counts: tuple[int, ...]
    codes: Subwords | None = None

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.symbols) if number > UNK}

    @classmethod
    def read(cls, path: str | os.PathLike[str], codes: str | os.PathLike[str] | None = None) -> Shortlist:
        """Read a shortlist and, for one of subwords, the codes that make them.

        Raises UserError if a line is not "symbol<TAB>count", if a symbol is repeated or if the codes are not its own.
        """
        symbols: list[str] = []
        counts: list[int] = []
        for number, line in enumerate(read_lines(path), 1):
            symbol, tab, count = line.rpartition("\t")
            try:
                if not (symbol and tab):
                    raise ValueError
                counts.append(whole(count))
            except ValueError:
                raise UserError(
                    f"{path}: line {number} is not a word, a tab and a count; make the shortlist again"
                ) from None
            symbols.append(symbol)
        if symbols[:2] != [EOS_SYMBOL, UNK_SYMBOL] or len(symbols) < 3:
            raise UserError(f"{path}: must hold {EOS_SYMBOL}, {UNK_SYMBOL} and words; make it again")
        if len(set(symbols)) != len(symbols):
            raise UserError(f"{path}: a word occurs twice in the shortlist; make the shortlist again")
        return cls(tuple(symbols), tuple(counts), None if codes is None else read_subwords(codes, symbols[2:]))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the shortlist atomically."""
        pairs = zip(self.symbols, self.counts, strict=True)
        write_lines(path, (f"{symbol}\t{count}" for symbol, count in pairs))

    def digest(self) -> str:
        """The SHA-256 of the symbols in their order, which is what an id means."""
        return hashlib.sha256("\n".join(self.symbols).encode()).hexdigest()

    def __len__(self) -> int:
        """The number of symbols K, including the end of the sentence and the unknown word."""
        return len(self.symbols)

    @property
    def has_subwords(self) -> bool:
        """Whether the symbols look like subwords, of byte pair encoding or of SentencePiece."""
        marked = sum(symbol.endswith(MARK) for symbol in self.symbols)
        return MARKED * marked > len(self) or {*self.symbols} >= BYTES

    def split(self, words: list[str]) -> list[str]:
        """The symbols of `words`: their subwords, or the words themselves."""
        return words if self.codes is None else self.codes.split(words)

    def split_lines(self, lines: Iterable[list[str]], name: str | os.PathLike[str]) -> Iterable[list[str]]:
        """The symbols of each line of the text `name`; warns at the end of the words that cannot be split."""
        return lines if self.codes is None else self.codes.split_lines(lines, name)

    def join(self, symbols: list[str]) -> list[str]:
        """The words of `symbols`."""
        return symbols if self.codes is None else self.codes.join(symbols)

    def owners(self, symbols: list[str]) -> list[int]:
        """The number of the word, from 0, that each of `symbols` belongs to."""
        return list(range(len(symbols))) if self.codes is None else self.codes.owners(symbols)

    def ids(self, symbols: Iterable[str]) -> list[int]:
        """The ids of `symbols`, UNK for one outside the shortlist; no EOS is appended."""
        get = self._ids.get
        return [get(symbol, UNK) for symbol in symbols]

    def knows(self, words: list[str]) -> bool:
        """Whether every symbol of `words` is in the shortlist."""
        return UNK not in self.ids(self.split(words))

    def words(self, ids: Iterable[int]) -> list[str]:
        """The symbols of `ids`; the unknown word is "UNK", the end of the sentence "<eos>"."""
        return [UNK_WORD if number == UNK else self.symbols[number] for number in ids]


def add_codes_argument(parser: argparse.ArgumentParser) -> None:
    """The option --codes of a step that has --shortlists; `read_shortlists` reads both."""
    parser.add_argument(
        "--codes",
        nargs="*",
        default=[],
        type=Path,
        metavar="FILE",
        help="the codes of both sides, source first, where the shortlists are of subwords (default: none)",
    )


def read_shortlists(arguments: argparse.Namespace) -> list[Shortlist]:
    """The shortlists of both sides. Raises UserError if one is damaged, or if its codes are not its own."""
    codes: Sequence[Path | None] = arguments.codes or [None, None]
    if len(codes) != 2:
        raise UserError(f"--codes: {len(codes)} files; name those of both sides, source first, or none")
    shortlists = [Shortlist.read(*paths) for paths in zip(arguments.shortlists, codes, strict=True)]
    for path, shortlist in zip(arguments.shortlists, shortlists, strict=True):
        if not arguments.codes and shortlist.has_subwords:
            raise UserError(f"{path}: a vocabulary of subwords; name their codes, of both sides, with --codes")
    return shortlists


def count_words(lines: Iterable[str]) -> tuple[Counter[str], int]:
    """The number of occurrences of each word in tokenized `lines`, and the number of lines."""
    counter: Counter[str] = Counter()
    sentences = 0
    for line in lines:
        counter.update(split_words(line))
        sentences += 1
    return counter, sentences


def make_shortlist(counter: Counter[str], size: int, sentences: int, reserved: Collection[str] = RESERVED) -> Shortlist:
    """The shortlist of the unknown word and the `size` - 1 most frequent words of `counter`, or all if there are fewer.

    The count of <eos> is `sentences`, that of <unk> the number of tokens outside the shortlist. The words `reserved`
    are always outside it.
    """
    ranked = sorted(
        ((word, count) for word, count in counter.items() if word not in reserved),
        key=lambda entry: (-entry[1], entry[0]),
    )[: size - 1]
    uncovered = counter.total() - sum(count for _, count in ranked)
    return Shortlist(
        (EOS_SYMBOL, UNK_SYMBOL, *(word for word, _ in ranked)),
        (sentences, uncovered, *(count for _, count in ranked)),
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", type=Path, required=True, help="tokenized training text, one side")
    sections.Shortlist.add_argument(parser)
    parser.add_argument(
        "--pieces",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="the model of SentencePiece, all of whose pieces are symbols (default: none)",
    )
    parser.add_argument("--output", type=Output, required=True, help="the shortlist, TSV")


def run(arguments: argparse.Namespace) -> None:
    size: int = arguments.settings.size
    with Progress(f"shortlist {arguments.input.name}", None, "lines") as progress:
        counter, sentences = count_words(progress.over(read_lines(arguments.input)))
    reserved = RESERVED
    if arguments.pieces is not None:
        pieces = dict.fromkeys(Pieces.read(arguments.pieces).symbols, 0)
        if strange := counter.keys() - pieces:
            raise UserError(
                f"{arguments.input}: {min(strange)} is no piece of {arguments.pieces}; segment the text by its model"
            )
        counter.update(pieces)
        size, reserved = 1 + len(pieces), frozenset()
    shortlist = make_shortlist(counter, size, sentences, reserved)
    kept = len(shortlist) - 2
    if kept == 0:
        raise UserError(f"{arguments.input}: no words for a shortlist; check the steps before this one")
    if kept < size - 1:
        warn(f"{arguments.input}: has only {kept} of the {size - 1} words that fit into a shortlist; all are kept")
    shortlist.write(arguments.output)
