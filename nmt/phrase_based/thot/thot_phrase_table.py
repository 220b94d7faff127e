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

from nmt.phrase_based.links import Links, read_links
from nmt.phrase_based.text import Pair, drawn_pairs
from nmt.settings.sections import PhraseBased
from nmt.system.files import UserError, write_lines
from nmt.system.options import Output
from nmt.system.progress import Progress

Span = tuple[int, int, int, int]
TARGET_BITS = np.uint64(32)


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


def table(pairs: Iterable[tuple[Pair, Links]], longest: int, translations: int) -> Iterator[str]:
    """The lines of the phrase table, at most `translations` for each source phrase."""
    sources: dict[str, int] = {}
    targets: dict[str, int] = {}
    found = array("Q")
    for (source, target), links in pairs:
        for begin, end, left, right in spans(len(source), len(target), links, longest):
            one, other = " ".join(source[begin:end]), " ".join(target[left:right])
            found.append(sources.setdefault(one, len(sources)) << 32 | targets.setdefault(other, len(targets)))
    keys, counts = np.unique(np.frombuffer(found, dtype=np.uint64), return_counts=True)
    source_ids = (keys >> TARGET_BITS).astype(np.int64)
    target_ids = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    target_counts = np.bincount(target_ids, weights=counts, minlength=len(targets)).astype(np.int64)
    order = np.lexsort((target_ids, -counts, source_ids))
    source_ids, target_ids, counts = source_ids[order], target_ids[order], counts[order]
    places = np.arange(len(source_ids))
    starts = np.ones(len(source_ids), dtype=bool)
    starts[1:] = source_ids[1:] != source_ids[:-1]
    kept = places - np.maximum.accumulate(np.where(starts, places, 0)) < translations
    source_phrases, target_phrases = list(sources), list(targets)
    rows = zip(source_ids[kept].tolist(), target_ids[kept].tolist(), counts[kept].tolist(), strict=True)
    for one, other, count in rows:
        yield f"{target_phrases[other]} ||| {source_phrases[one]} ||| {target_counts[other]} {count}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `nmt thot_phrase_table`."""
    parser.add_argument("--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"), help="tokenized")
    parser.add_argument("--links", type=Path, required=True, help="from the step thot_symmetrize")
    PhraseBased.add_argument(parser)
    parser.add_argument("--seed", type=int, required=True, help="of the random sample of pairs")
    parser.add_argument("--output", type=Output, required=True, help="the phrase table")


def run(arguments: argparse.Namespace) -> None:
    """Extract the phrases of all pairs."""
    settings: PhraseBased = arguments.settings
    pairs = drawn_pairs(arguments.texts, settings.pairs, arguments.seed)
    links = list(read_links(arguments.links))
    if len(pairs) != len(links):
        raise UserError(f"{arguments.links}: {len(links)} lines for {len(pairs)} pairs; align the words again")
    for number, ((source, target), chosen) in enumerate(zip(pairs, links, strict=True), 1):
        if any(i >= len(source) or j >= len(target) for i, j in chosen):
            raise UserError(f"{arguments.links}: line {number} links words that its pair lacks; align the words again")
    with Progress("thot_phrase_table", len(pairs), "pairs") as progress:
        aligned = progress.over(zip(pairs, links, strict=True))
        lines = table(aligned, settings.phrase_length, settings.translations)
        first = next(lines, None)
        if first is None:
            raise UserError(
                f"{arguments.links}: the phrase table is empty, as there are no links; check the texts and the links"
            )
        write_lines(arguments.output, chain([first], lines))
