"""Extract the phrase pairs that the word alignments allow, and count them (Koehn, Och and Marcu, 2003).

A pair of phrases is extracted where their words are linked to one another and to no word outside, with one link or
more; words without a link may stand at the edges of the target phrase. The table has a line for each pair, of the
source phrase's most frequent translations, in the form that Thot reads:

    target phrase ||| source phrase ||| how often the target phrase was extracted, how often with this source phrase
"""

from __future__ import annotations

import argparse
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from nmt.phrase_based.links import Links, read_links
from nmt.phrase_based.text import Pair, add_text_arguments, training_pairs
from nmt.system.files import UserError, write_lines
from nmt.system.progress import Progress

Span = tuple[int, int, int, int]
TARGET_BITS = np.uint64(32)


def spans(sources: int, targets: int, links: Links, longest: int) -> Iterator[Span]:
    """The phrase pairs of a sentence pair: words [a, b) of the source and [c, d) of the target, `longest` at most."""
    low, high = [targets] * sources, [-1] * sources  # the first and last target word of each source word
    first, last = [sources] * targets, [-1] * targets  # and the other way round
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
                break  # a longer source phrase does not mend this
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
    """The lines of the phrase table; `translations` of each source phrase at most."""
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
    """The flags of `python -m nmt phrase_table`."""
    add_text_arguments(parser)
    parser.add_argument("--links", type=Path, required=True, help="of the step symmetrize")
    parser.add_argument("--longest", type=int, default=7, help="words of a phrase")
    parser.add_argument("--translations", type=int, default=20, help="of a source phrase")
    parser.add_argument("--output", type=Path, required=True)


def run(arguments: argparse.Namespace) -> None:
    """Extract the phrases of all pairs."""
    if arguments.longest < 1 or arguments.translations < 1:
        raise UserError("--longest, --translations: give 1 or more")
    pairs, links = training_pairs(arguments), list(read_links(arguments.links))
    if len(pairs) != len(links):
        raise UserError(f"{arguments.links}: {len(links)} lines for {len(pairs)} pairs; align the words again")
    with Progress("phrase_table", len(pairs), "pairs") as progress:
        aligned = progress.over(zip(pairs, links, strict=True))
        lines = table(aligned, arguments.longest, arguments.translations)
        first = next(lines, None)
        if first is None:
            raise UserError(
                f"{arguments.links}: the phrase table is empty, no phrase has a link; check the texts and the links"
            )
        write_lines(arguments.output, chain([first], lines))
