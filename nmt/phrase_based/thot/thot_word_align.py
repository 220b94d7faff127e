"""Align the words of the training pairs in one direction with Thot's fast_align (Dyer et al., 2013).

Every target word is linked to at most one source word; with --inverse, every source word to at most one target word.
The output folder holds the links (`links.txt`, sorted by the first word) and the trained model with its digests, from
which the decoder reads word translation probabilities.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

import numpy as np
import thot.alignment
from thot.common import WordAlignmentMatrix

from nmt.phrase_based.links import Links, write_links
from nmt.phrase_based.text import Pair, drawn_pairs
from nmt.phrase_based.thot.decoder import LINKS, write_digests
from nmt.settings.sections import PhraseBased
from nmt.system.files import atomic
from nmt.system.options import OutputFolder
from nmt.system.progress import Progress
from nmt.system.stop import interruptible, temporary_folder

PAIRS_PER_PIECE = 1000


def links_of(matrix: WordAlignmentMatrix) -> Links:
    """The links of an alignment matrix, source by target words."""
    return [(int(i), int(j)) for i, j in np.argwhere(matrix.to_numpy())]


def train(pairs: list[Pair], iterations: int, progress: Progress) -> thot.alignment.FastAlignModel:
    """Train a model that predicts the words of the second sides from those of the first."""
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


def check_whole(file: Path) -> None:
    """Raise OSError if a full disk cut `file`. Thot reports no error, but the file cannot take another byte."""
    size = file.stat().st_size
    with open(file, "ab") as end:
        end.write(b"\0")
        end.flush()
        os.fsync(end.fileno())
        end.truncate(size)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--texts", nargs=2, type=Path, required=True, metavar=("SOURCE", "TARGET"), help="tokenized")
    parser.add_argument("--inverse", action="store_true", help="predict source words from target words")
    PhraseBased.add_argument(parser)
    parser.add_argument("--seed", type=int, required=True, help="seed of the random sample of pairs")
    parser.add_argument("--output", type=OutputFolder, required=True, help="folder of the links and the model")


def run(arguments: argparse.Namespace) -> None:
    settings: PhraseBased = arguments.settings
    pairs = drawn_pairs(arguments.texts, settings.pairs, arguments.seed)
    direction = "inverse" if arguments.inverse else "direct"
    if arguments.inverse:
        pairs = [(target, source) for source, target in pairs]
    with Progress("thot_word_align", (settings.align_iterations + 1) * len(pairs), "pairs") as progress:
        with interruptible():
            model = train(pairs, settings.align_iterations, progress)
        alignments: list[Links] = []
        for first in range(0, len(pairs), PAIRS_PER_PIECE):
            piece = pairs[first : first + PAIRS_PER_PIECE]
            found = model.get_best_alignments([source for source, _ in piece], [target for _, target in piece])
            alignments += [links_of(matrix) for _, matrix in found]
            progress.update(len(piece))
    with temporary_folder("thot_word_align") as folder:
        model.print(str(folder / direction))
        for file in sorted(folder.iterdir()):
            check_whole(file)
            with atomic(arguments.output / file.name) as partial:
                shutil.copyfile(file, partial)
    write_digests(arguments.output, direction)
    write_links(arguments.output / LINKS, alignments)
