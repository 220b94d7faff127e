"""Measure how much of the selected text, in all and per corpus, and of the test sets the shortlists cover.

A word that is not on the shortlist is UNK to the model. `sentences_without_unk` counts the sentences whose words are
all on the shortlist of their side. Where the shortlists are of subwords, subwords are counted.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from nmt.corpora.pairs import read_byte_pairs, split_words
from nmt.corpora.select import AUDIT, TOTAL
from nmt.corpora.shortlist import UNK, Shortlist, add_codes_argument, read_shortlists
from nmt.system.errors import UserError, warn
from nmt.system.options import Output
from nmt.system.progress import Progress
from nmt.system.tables import Cell, number, read_csv, whole, write_csv
from nmt.system.text import read_lines

COLUMNS = (
    *("text", "language", "size", "sentences", "sentences_without_unk"),
    *("types", "tokens", "unk_tokens", "coverage_percent", "unk_percent"),
)


MANY_UNKNOWN = 1 / 10  # of the words of a text


@dataclass
class Count:
    """The counts of a text."""

    sentences: int = 0
    sentences_without_unk: int = 0
    tokens: int = 0
    unk_tokens: int = 0
    types: set[str] = field(default_factory=set)

    def add(self, other: Count) -> None:
        """Add the counts of `other`."""
        self.sentences += other.sentences
        self.sentences_without_unk += other.sentences_without_unk
        self.tokens += other.tokens
        self.unk_tokens += other.unk_tokens
        self.types |= other.types

    def row(self, text: str, language: str, size: int) -> list[Cell]:
        """The row of COLUMNS; without percentages for a text that has no words."""
        share = 100 * self.unk_tokens / self.tokens if self.tokens else None
        percentages = ["", ""] if share is None else [number(100 - share, 2), number(share, 2)]
        counts = (self.sentences, self.sentences_without_unk, len(self.types), self.tokens, self.unk_tokens)
        return [text, language, size, *counts, *percentages]


def count(lines: Iterable[str], shortlist: Shortlist) -> Count:
    """The counts of tokenized `lines`."""
    found = Count()
    for line in lines:
        words = shortlist.split(split_words(line))
        unknown = shortlist.ids(words).count(UNK)
        found.sentences += 1
        found.sentences_without_unk += not unknown
        found.tokens += len(words)
        found.unk_tokens += unknown
        found.types.update(words)
    return found


def measure(
    shortlist: Shortlist, language: str, train: Path, corpora: dict[str, int], sets: dict[str, Path]
) -> list[list[Cell]]:
    """The rows of one language, and a warning that names the texts with many unknown words.

    `corpora` gives the number of lines of each corpus in `train`, in order. Raises UserError where `train` has another
    number of lines.
    """
    size = len(shortlist) - 1  # as the setting counts: without the end of sentence
    whole, counts = Count(), []
    with Progress(f"coverage {train.name}", sum(corpora.values()), "lines") as progress:
        lines = progress.over(read_lines(train))
        for corpus, kept in corpora.items():
            part = count(islice(lines, kept), shortlist)
            counts.append((corpus, part))
            whole.add(part)
        if whole.sentences != sum(corpora.values()) or next(lines, None) is not None:
            raise UserError(
                f"{train}: does not have the {sum(corpora.values())} lines of the audit; run the selection again"
            )
    counts.append((TOTAL, whole))
    counts += [(name, count(read_lines(path), shortlist)) for name, path in sets.items()]
    many = [(text, one) for text, one in counts if one.unk_tokens > MANY_UNKNOWN * one.tokens]
    if many:
        shares = ", ".join(f"{100 * one.unk_tokens / one.tokens:.0f} % of {text}" for text, one in many)
        warn(
            f"many words in {language} are unknown to the models: {shares}; give them more words (shortlist.size) or "
            "subwords (bpe), and put spaces between the words of a language that has none"
        )
    return [one.row(text, language, size) for text, one in counts]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--shortlists", required=True, nargs=2, type=Path, metavar=("SOURCE", "TARGET"))
    add_codes_argument(parser)
    parser.add_argument(
        "--texts", required=True, nargs=2, type=Path, metavar=("SOURCE", "TARGET"), help="selected text"
    )
    parser.add_argument(
        "--audit", required=True, help="CSV of the step select: pairs of each corpus in the selected text"
    )
    parser.add_argument("--names", nargs="*", default=[], help="names of further tokenized texts, such as test sets")
    parser.add_argument("--sources", nargs="*", type=Path, default=[], help="one file for each name")
    parser.add_argument("--targets", nargs="*", type=Path, default=[], help="one file for each name")
    parser.add_argument("--output", type=Output, required=True, help="CSV")


def run(arguments: argparse.Namespace) -> None:
    if not len(arguments.names) == len(arguments.sources) == len(arguments.targets):
        raise UserError(f"--names: {len(arguments.names)} names; give as many --sources and --targets")
    kept = AUDIT.index("pairs_kept")
    try:
        corpora = {row[0]: whole(row[kept]) for row in read_csv(arguments.audit, AUDIT) if row[0] != TOTAL}
    except ValueError as error:
        raise UserError(f"{arguments.audit}: pairs_kept: {error}; make the file again") from None
    for name, times in Counter([*corpora, TOTAL, *arguments.names]).items():
        if times > 1:
            raise UserError(f"--names: {name} has a row already; give each text a name of its own")
    for pair in zip(arguments.sources, arguments.targets, strict=True):
        for _ in read_byte_pairs(*pair):  # which refuses sides of different lengths
            pass
    rows = []
    sides = zip(read_shortlists(arguments), arguments.texts, (arguments.sources, arguments.targets), strict=True)
    for shortlist, train, paths in sides:
        sets = dict(zip(arguments.names, paths, strict=True))
        rows += measure(shortlist, train.suffix.removeprefix("."), train, corpora, sets)
    write_csv(arguments.output, COLUMNS, rows)
