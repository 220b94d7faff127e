"""Make the shortlist of one language: the most frequent words of that side of the training text (Section 4.1).

Each line of the file is "symbol<TAB>count", and the number of the line, from 0, is the id of the symbol: 0 is the end
of a sentence, 1 the unknown word, and words follow by descending count (ties by code point). A shortlist of size n
holds the unknown word and n - 1 words; the end of the sentence does not count. The original code keeps n - 2 words
beside its special symbols: of 30,000 it has 29,998 words, and the 29,999th is known to ours alone.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from nmt.corpora.pairs import split_words
from nmt.settings import sections
from nmt.system.files import UserError, read_lines, warn, write_lines
from nmt.system.options import Output
from nmt.system.progress import Progress

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

    `symbols` starts with "<eos>" and "<unk>"; `counts[i]` is the count of symbol i in the training text.
    """

    symbols: tuple[str, ...]
    counts: tuple[int, ...]
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ids = {word: number for number, word in enumerate(self.symbols) if number > UNK}
        object.__setattr__(self, "_ids", ids)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Shortlist:
        """Read a shortlist. Raises UserError if a line is not "symbol<TAB>count" or if a symbol is repeated."""
        symbols: list[str] = []
        counts: list[int] = []
        for number, line in enumerate(read_lines(path), 1):
            symbol, tab, count = line.rpartition("\t")
            if not (symbol and tab and count.isascii() and count.isdigit()):
                raise UserError(f"{path}: line {number} is not a word, a tab and a count; make the shortlist again")
            symbols.append(symbol)
            counts.append(int(count))
        if symbols[:2] != [EOS_SYMBOL, UNK_SYMBOL] or len(symbols) < 3:
            raise UserError(f"{path}: must hold {EOS_SYMBOL}, {UNK_SYMBOL} and words; make it again")
        if len(set(symbols)) != len(symbols):
            raise UserError(f"{path}: a word occurs twice in the shortlist; make the shortlist again")
        return cls(tuple(symbols), tuple(counts))

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

    def ids(self, words: Iterable[str]) -> list[int]:
        """The ids of `words`, UNK for a word outside the shortlist; no EOS is appended."""
        get = self._ids.get
        return [get(word, UNK) for word in words]

    def knows(self, line: str) -> bool:
        """Whether every word of a tokenized line is in the shortlist."""
        return UNK not in self.ids(split_words(line))

    def words(self, ids: Iterable[int]) -> list[str]:
        """The words of `ids`; the unknown word is "UNK", the end of the sentence "<eos>"."""
        return [UNK_WORD if number == UNK else self.symbols[number] for number in ids]


def count_words(lines: Iterable[str]) -> tuple[Counter[str], int]:
    """The number of occurrences of each word in tokenized `lines`, and the number of lines."""
    counter: Counter[str] = Counter()
    sentences = 0
    for line in lines:
        counter.update(split_words(line))
        sentences += 1
    return counter, sentences


def make_shortlist(counter: Counter[str], size: int, sentences: int) -> Shortlist:
    """The shortlist of the unknown word and the `size` - 1 most frequent words of `counter`, or all if there are fewer.

    The count of <eos> is `sentences`, that of <unk> the number of tokens outside the shortlist.
    """
    ranked = sorted(
        ((word, count) for word, count in counter.items() if word not in RESERVED),
        key=lambda entry: (-entry[1], entry[0]),
    )[: size - 1]
    uncovered = counter.total() - sum(count for _, count in ranked)
    return Shortlist(
        (EOS_SYMBOL, UNK_SYMBOL, *(word for word, _ in ranked)),
        (sentences, uncovered, *(count for _, count in ranked)),
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `nmt shortlist`."""
    parser.add_argument("--input", type=Path, required=True, help="tokenized training text, one side")
    sections.Shortlist.add_argument(parser)
    parser.add_argument("--output", type=Output, required=True, help="the shortlist, TSV")


def run(arguments: argparse.Namespace) -> None:
    """Count the words of the text and write its shortlist."""
    size: int = arguments.settings.size
    with Progress(f"shortlist {arguments.input.name}", None, "lines") as progress:
        counter, sentences = count_words(progress.over(read_lines(arguments.input)))
    shortlist = make_shortlist(counter, size, sentences)
    kept = len(shortlist) - 2
    if kept == 0:
        raise UserError(f"{arguments.input}: no words for a shortlist; check the steps before this one")
    if kept < size - 1:
        warn(f"{arguments.input}: shortlist.size is {size}, but the text has only {kept} words; all are kept")
    shortlist.write(arguments.output)
