"""Extract and count the phrase pairs that are consistent with the word alignment (Koehn, Och and Marcu, 2003).

A pair of phrases is extracted if there is a link between them and no link from either to a word outside the other;
words without links may be at the edges of the target phrase. The table has the most frequent translations of each
source phrase, a line for each pair, in the format that Thot reads:

    target phrase ||| source phrase ||| count of the target phrase, count of the pair
"""

from __future__ import annotations

import argparse
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.phrase_based.links import Links, read_links_of
from nmt.phrase_based.text import SEPARATOR, Pair, drawn_pairs
from nmt.settings.sections import PhraseBased
from nmt.system.errors import UserError
from nmt.system.options import Output
from nmt.system.progress import Progress
from nmt.system.text import write_lines

Span = tuple[int, int, int, int]
TARGET_BITS = 32
LINES_PER_PIECE = 100_000
MOST = 2**31 - 2**20  # what a key of two numbers in 63 bits holds, without those that one more pair may need


def spans(sources: int, targets: int, links: Links, longest: int) -> Iterator[Span]:
    """The phrase pairs of a sentence pair: source words [a, b) and target words [c, d), at most `longest` each."""
    low, high = [targets] * sources, [-1] * sources  # the first and last target word linked to each source word
    first, last = [sources] * targets, [-1] * targets  # and vice versa
    for i, j in links:
        low[i], high[i] = min(low[i], j), max(high[i], j)
        first[j], last[j] = min(first[j], i), max(last[j], i)
    for begin in range(sources):
        lowest, highest = targets, -1
        for end in range(begin, min(sources, begin + longest)):
            lowest, highest = min(lowest, low[end]), max(highest, high[end])
            if highest < 0:
                continue
            if highest - lowest >= longest or min(first[lowest : highest + 1]) < begin:
                break  # and so will every longer source phrase
            if max(last[lowest : highest + 1]) > end:
                continue
            left = lowest
            while True:
                right = highest
                while right - left < longest:
                    yield begin, end + 1, left, right + 1
                    right += 1
                    if right == targets or last[right] >= 0:
                        break
                left -= 1
                if left < 0 or last[left] >= 0 or highest - left >= longest:
                    break


class Phrases:
    """The phrases that are extracted from one side of all pairs, as places in its text."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.ids: dict[str, int] = {}
        self.row = array("I")  # the ids of the words of all sentences
        self.places = array("I")  # of each extracted phrase: its first word's index in `row` * longest + its length - 1

    def add_sentence(self, words: Iterable[str]) -> int:
        """Append a sentence; returns the index of its first word. Raises UserError if the text becomes too long."""
        start = len(self.row)
        self.row.extend([self.ids.setdefault(word, len(self.ids)) for word in words])
        if max(len(self.row) * self.longest, len(self.places)) > MOST:
            raise UserError(
                "config: phrase_based.pairs: too much text for the phrase table; name a smaller number of pairs"
            )
        return start

    def extract(self, begin: int, end: int) -> None:
        """Extract the words [begin, end) of the text."""
        self.places.append(begin * self.longest + end - begin - 1)

    def numbers(self) -> NDArray[np.uint32]:
        """For each extracted phrase the number of extractions before the first one of the same words."""
        row = np.frombuffer(self.row, np.uint32)
        earliest = np.zeros((len(row), self.longest), np.uint32)  # the first place of each n-gram's words
        ngrams = np.zeros(len(row), np.int64)  # equal where the words are
        for n in range(min(self.longest, len(row))):
            _, first, ngrams = np.unique(
                ngrams[: len(row) - n] * len(self.ids) + row[n:], return_index=True, return_inverse=True
            )
            earliest[: len(ngrams), n] = first[ngrams] * self.longest + n
        places = earliest.ravel()[np.frombuffer(self.places, np.uint32)]
        number = np.zeros(earliest.size, np.uint32)
        number[places[::-1]] = np.arange(len(places))[::-1]  # of several assignments to an element the last one holds
        return number[places]

    def texts(self, numbers: Iterable[int]) -> Iterator[str]:
        """Yield the words of the extracted phrases with these numbers."""
        words = list(self.ids)
        for number in numbers:
            begin, length = divmod(self.places[number], self.longest)
            yield " ".join([words[word] for word in self.row[begin : begin + length + 1]])


def table(pairs: Iterable[tuple[Pair, Links]], longest: int, translations: int) -> Iterator[str]:
    """The lines of the phrase table, at most `translations` for each source phrase."""
    sources, targets = Phrases(longest), Phrases(longest)
    for (source, target), links in pairs:
        i, j = sources.add_sentence(source), targets.add_sentence(target)
        for begin, end, left, right in spans(len(source), len(target), links, longest):
            sources.extract(i + begin, i + end)
            targets.extract(j + left, j + right)
    keys = sources.numbers().astype(np.int64) << TARGET_BITS
    keys |= targets.numbers()
    keys, counts = np.unique(keys, return_counts=True)
    source_numbers, target_numbers = keys >> TARGET_BITS, keys & ((1 << TARGET_BITS) - 1)
    target_counts = np.bincount(target_numbers, counts).astype(np.int64)
    order = np.lexsort((target_numbers, -counts, source_numbers))
    source_numbers, target_numbers, counts = source_numbers[order], target_numbers[order], counts[order]
    kept = np.arange(len(source_numbers)) - np.searchsorted(source_numbers, source_numbers) < translations
    source_numbers, target_numbers, counts = source_numbers[kept], target_numbers[kept], counts[kept]
    for first in range(0, len(counts), LINES_PER_PIECE):
        piece = slice(first, first + LINES_PER_PIECE)
        texts = targets.texts(target_numbers[piece].tolist()), sources.texts(source_numbers[piece].tolist())
        numbers = target_counts[target_numbers[piece]].tolist(), counts[piece].tolist()
        for words, translated, all_counts, pair_counts in zip(*texts, *numbers, strict=True):
            yield f" {SEPARATOR} ".join((words, translated, f"{all_counts} {pair_counts}"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"), help="tokenized")
    parser.add_argument("--links", type=Path, required=True, help="links from the step thot_symmetrize")
    PhraseBased.add_argument(parser)
    parser.add_argument("--seed", type=int, required=True, help="seed of the random sample of pairs")
    parser.add_argument("--output", type=Output, required=True, help="the phrase table")


def run(arguments: argparse.Namespace) -> None:
    settings: PhraseBased = arguments.settings
    pairs = drawn_pairs(arguments.texts, settings.pairs, arguments.seed)
    links = list(read_links_of(pairs, arguments.links))
    with Progress("thot_phrase_table", len(pairs), "pairs") as progress:
        aligned = progress.over(zip(pairs, links, strict=True))
        lines = table(aligned, settings.phrase_length, settings.translations)
        first = next(lines, None)
        if first is None:
            raise UserError(
                f"{arguments.links}: the phrase table is empty, as there are no links; check the texts and the links"
            )
        write_lines(arguments.output, chain([first], lines))
