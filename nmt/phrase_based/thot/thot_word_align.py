"""Align the words of the training pairs in one direction: fast_align (Dyer et al., 2013), as Thot has it.

Every word of the second text is linked to one word of the first, or to none. The trained model goes to the output
folder, where the phrase-based decoder reads its word translation probabilities, and the links to `links.txt`, in the
order of the words of the first text.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import numpy as np
import thot.alignment
from thot.common import WordAlignmentMatrix

from nmt.phrase_based.links import Links, write_links
from nmt.phrase_based.text import Pair, add_text_arguments, training_pairs
from nmt.system.files import UserError, atomic
from nmt.system.progress import Progress

MODEL = "model"  # the prefix of the files of the trained model
PAIRS_A_PIECE = 1000


def links_of(matrix: WordAlignmentMatrix) -> Links:
    """The links of a matrix of source by target words."""
    return [(int(i), int(j)) for i, j in np.argwhere(matrix.to_numpy())]


def train(pairs: list[Pair], iterations: int, progress: Progress) -> thot.alignment.FastAlignModel:
    """A model of how the words of the second sides come from those of the first."""
    model = thot.alignment.FastAlignModel()
    model.variational_bayes = True
    for source, target in pairs:
        model.add_sentence_pair(source, target)
    model.start_training()
    for _ in range(iterations):
        model.train()
        progress.update(len(pairs))
    model.end_training()
    return model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `python -m nmt word_align`."""
    add_text_arguments(parser)
    parser.add_argument("--inverse", action="store_true", help="source words from target words")
    parser.add_argument("--iterations", type=int, default=5, help="of expectation maximization")
    parser.add_argument("--output", type=Path, required=True, help="a folder")


def run(arguments: argparse.Namespace) -> None:
    """Train and align."""
    if arguments.iterations < 1:
        raise UserError(f"--iterations: {arguments.iterations}; give 1 or more")
    pairs = training_pairs(arguments)
    if arguments.inverse:
        pairs = [(target, source) for source, target in pairs]
    with Progress("word_align", (arguments.iterations + 1) * len(pairs), "pairs") as progress:
        model = train(pairs, arguments.iterations, progress)
        alignments: list[Links] = []
        for first in range(0, len(pairs), PAIRS_A_PIECE):
            piece = pairs[first : first + PAIRS_A_PIECE]
            found = model.get_best_alignments([source for source, _ in piece], [target for _, target in piece])
            alignments += [links_of(matrix) for _, matrix in found]
            progress.update(len(piece))
    with tempfile.TemporaryDirectory(prefix="word_align.") as folder:
        model.print(str(Path(folder) / MODEL))
        for file in sorted(Path(folder).iterdir()):
            with atomic(arguments.output / file.name) as partial:
                shutil.copyfile(file, partial)
    write_links(arguments.output / "links.txt", alignments)
