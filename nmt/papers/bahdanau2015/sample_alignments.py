"""Pick the soft-alignments of four sentences, for Figure 3.

Panel (a) is a chosen sentence or, with `chosen: auto`, one drawn at random from the least monotone alignments; the
paper's own is not in its test set. Panels (b) to (d) are the paper's sentences on newstest2014, shown as they are
translated, also with unknown words. On other sets, and in place of those that are missing or chosen for panel (a), they
are drawn at random from the sentences of 10 to 20 source words without an unknown word in source or translation.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence

import numpy as np

from nmt.corpora.shortlist import EOS_SYMBOL, Shortlist, add_codes_argument, read_shortlists
from nmt.evaluation.sentences import read_parallel
from nmt.papers.bahdanau2015.printed import printed_sentences
from nmt.papers.bahdanau2015.settings import Figure3
from nmt.report.panels import Panel, write_panels
from nmt.search.alignments import Alignment, read_alignments
from nmt.system.errors import UserError, warn
from nmt.system.options import Output

FIRST, OTHERS = "a", "bcd"  # the letters of the panels
SHORTEST, LONGEST = 10, 20  # source words of the panels (b) to (d), as in the paper
LEAST_MONOTONE = 0.1  # panel (a) is drawn from this share of the sentences


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--alignments", required=True, help="JSON lines of the step translate")
    parser.add_argument("--source", required=True, help="tokenized sentences that were translated")
    parser.add_argument("--raw-source", required=True, help="the same sentences, not tokenized")
    parser.add_argument("--set", required=True, help="name of the test set, such as newstest2014")
    parser.add_argument("--shortlists", required=True, nargs=2, metavar=("SOURCE", "TARGET"))
    add_codes_argument(parser)
    parser.add_argument("--seed", required=True, type=int)
    Figure3.add_argument(parser)
    parser.add_argument("--output", type=Output, required=True, help="CSV")


def drawable(alignment: Alignment, source_shortlist: Shortlist, target_shortlist: Shortlist) -> bool:
    """Whether panels (b) to (d) may show it: 10 to 20 source words, no unknown word in source or translation."""
    source, target = ([word for word in words if word != EOS_SYMBOL] for words in (alignment.source, alignment.target))
    return (
        SHORTEST <= len(source) <= LONGEST
        and bool(target)
        and source_shortlist.knows(source)
        and target_shortlist.knows(target)
    )


def disorder(alignment: Alignment) -> float:
    """How far an alignment is from monotone, in source words; 0 for a monotone one.

    The strongest source words of the target words are compared with the same words in order: the mean distance.
    """
    rows = zip(alignment.weights or [], alignment.target, strict=True)
    strongest = [row.index(max(row)) for row, word in rows if word != EOS_SYMBOL]
    moves = [abs(own - ordered) for own, ordered in zip(strongest, sorted(strongest), strict=True)]
    return sum(moves) / len(moves)


def pick(
    candidates: Sequence[Alignment], chosen: Alignment | None, printed: Sequence[Alignment], seed: int
) -> dict[str, Alignment]:
    """Up to four alignments by the letters of their panels.

    (a) is `chosen`, or one of the least monotone of `candidates`; the others are `printed`, then some of `candidates`.
    """
    generator = random.Random(seed)
    lines = {alignment.line for alignment in printed}
    rest = [candidate for candidate in candidates if candidate.line not in lines]
    if chosen is None and rest:
        least = sorted(rest, key=lambda candidate: (-disorder(candidate), candidate.line))
        chosen = generator.choice(least[: max(1, round(LEAST_MONOTONE * len(least)))])
    first = {} if chosen is None else {FIRST: chosen}
    others, rest = ([alignment for alignment in some if alignment not in first.values()] for some in (printed, rest))
    others += generator.sample(rest, min(len(OTHERS) - len(others), len(rest)))
    return first | dict(zip(OTHERS, others, strict=False))


def run(arguments: argparse.Namespace) -> None:
    sources, raw_sources = read_parallel(arguments.source, arguments.raw_source)
    source_shortlist, target_shortlist = read_shortlists(arguments)
    chosen: int | str = arguments.settings.chosen
    wanted = None if isinstance(chosen, str) else chosen - 1
    if wanted is not None and wanted >= len(sources):
        raise UserError(
            f"chosen: {chosen} is not a line of the source; give a number from 1 to {len(sources)}, or auto"
        )
    lines = printed_sentences(arguments.set, "Figure 3", raw_sources)
    kept: dict[int | None, Alignment] = {}
    candidates = []
    for alignment in read_alignments(arguments.alignments, sources):
        if alignment.weights is None:
            raise UserError(f"{arguments.alignments}: the model has no alignment; take an RNNsearch variant")
        if alignment.line in (wanted, *lines):
            kept[alignment.line] = alignment
        if drawable(alignment, source_shortlist, target_shortlist):
            candidates.append(alignment)
    for line in lines if wanted is None else [wanted, *lines]:
        if line not in kept:
            hint = "choose another line, or auto" if line == wanted else "tokenize the set again"
            raise UserError(f"{arguments.source}: line {line + 1} has no words; {hint}")
    picked = pick(candidates, kept.get(wanted), [kept[line] for line in lines], arguments.seed)
    if len(picked) < 1 + len(OTHERS):
        warn(
            f"{arguments.source}: {len(candidates)} sentences of {SHORTEST} to {LONGEST} words have no unknown word; "
            f"Figure 3 has {len(picked)} of its {1 + len(OTHERS)} alignments"
        )
    panels = [
        Panel(letter, alignment.source, alignment.target, np.array(alignment.weights))
        for letter, alignment in picked.items()
    ]
    write_panels(arguments.output, panels)
