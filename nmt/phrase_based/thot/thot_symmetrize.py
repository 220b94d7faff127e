"""Symmetrize the word alignments of both directions by grow-diag-final-and (Koehn et al., 2005)."""

from __future__ import annotations

import argparse
from pathlib import Path

from thot.common import WordAlignmentMatrix

from nmt.phrase_based.links import Links, read_links, write_links
from nmt.phrase_based.thot.thot_word_align import links_of
from nmt.system.errors import UserError
from nmt.system.options import Output
from nmt.system.progress import Progress


def matrix(links: Links, rows: int, columns: int) -> WordAlignmentMatrix:
    """The alignment matrix of the links, source by target words."""
    result = WordAlignmentMatrix(rows, columns)
    for i, j in links:
        result.set(i, j)
    return result


def symmetrize(direct: Links, inverse: Links) -> Links:
    """The symmetrized links, sorted. `direct` and `inverse` both have the source word first."""
    both = [*direct, *inverse]
    if not both:
        return []
    size = [1 + max(link[side] for link in both) for side in (0, 1)]
    joined = matrix(direct, *size)
    joined.grow_diag_final_and(matrix(inverse, *size))
    return links_of(joined)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--direct", type=Path, required=True, help="links from the step thot_word_align")
    parser.add_argument("--inverse", type=Path, required=True, help="links of the other direction, target word first")
    parser.add_argument("--output", type=Output, required=True, help="the links of each pair on a line")


def run(arguments: argparse.Namespace) -> None:
    direct, inverse = list(read_links(arguments.direct)), list(read_links(arguments.inverse))
    if len(direct) != len(inverse):
        raise UserError(
            f"{arguments.inverse}: {len(inverse)} lines, {arguments.direct} has {len(direct)}; align the words again"
        )
    with Progress("thot_symmetrize", len(direct), "pairs") as progress:
        pairs = progress.over(zip(direct, inverse, strict=True))
        write_links(arguments.output, (symmetrize(one, [(i, j) for j, i in other]) for one, other in pairs))
