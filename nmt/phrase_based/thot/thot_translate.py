"""Translate tokenized text with Thot; words that no phrase covers are copied, as are sentences that it refuses."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from nmt.corpora.pairs import split_words
from nmt.corpora.pieces import Pieces
from nmt.phrase_based.text import join_escaped, split_escaped, without_gaps
from nmt.phrase_based.thot.decoder import LONGEST, WEIGHTS, Decoders, add_decoder_arguments, assembled
from nmt.settings.checks import each, finite
from nmt.system.errors import UserError, warn
from nmt.system.options import Output
from nmt.system.progress import Progress
from nmt.system.text import read_json, read_lines, write_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_decoder_arguments(parser)
    parser.add_argument("--weights", type=Path, required=True, help="JSON from the step thot_tune")
    parser.add_argument(
        "--source", type=Path, required=True, help="tokenized text, a sentence on each line; with --pieces, segmented"
    )
    parser.add_argument(
        "--pieces",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="the model of SentencePiece by which the translations are joined (default: none, they are words)",
    )
    parser.add_argument("--output", type=Output, required=True, help="a translation for each line")


def read_weights(path: Path) -> list[float]:
    """The weights in the order of WEIGHTS. Raises UserError if one is missing or no number."""
    weights = read_json(path)
    named: Any = weights.get("weights") if isinstance(weights, dict) else None
    if not each(WEIGHTS, finite()).accepts(named):
        raise UserError(f"{path}: not the weights {', '.join(WEIGHTS)}; run the step thot_tune")
    return [named[name] for name in WEIGHTS]


def run(arguments: argparse.Namespace) -> None:
    weights = read_weights(arguments.weights)
    sentences = list(map(split_escaped, read_lines(arguments.source)))
    if long := sum(len(words) > LONGEST for words in sentences):
        warn(f"{arguments.source}: sentences of more than {LONGEST} words, which Thot does not translate: {long}")
    with (
        assembled(arguments, sentences) as folder,
        Decoders(folder, arguments.settings, arguments.threads) as decoders,
        Progress(f"thot_translate {arguments.source.name}", len(sentences), "sentences") as progress,
    ):
        found = []
        for best in decoders.decode(sentences, weights):
            found.append(join_escaped(best[0].words) if best else "")
            progress.update(1)
    translations = without_gaps(list(map(join_escaped, sentences)), found, arguments.source)
    if arguments.pieces is not None:
        pieces = Pieces.read(arguments.pieces)
        translations = [" ".join(pieces.join(split_words(line))) for line in translations]
    write_lines(arguments.output, translations)
