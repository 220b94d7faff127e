"""Translate tokenized text with the phrase-based system; a word that no phrase has is copied."""

from __future__ import annotations

import argparse
from pathlib import Path

from nmt.files import UserError, read_json, warn, write_lines
from nmt.phrase_based.decoder import (
    WEIGHTS,
    Decoders,
    add_decoder_arguments,
    assembled,
    read_sentences,
    search_of,
)
from nmt.progress import Progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `python -m nmt decode`."""
    add_decoder_arguments(parser)
    parser.add_argument("--weights", type=Path, required=True, help="JSON of the step mert")
    parser.add_argument("--source", type=Path, required=True, help="tokenized, one sentence a line")
    parser.add_argument("--output", type=Path, required=True, help="as many lines")


def read_weights(path: Path) -> list[float]:
    """The weights in the order of WEIGHTS; UserError where one is missing."""
    weights = read_json(path)
    named = weights.get("weights") if isinstance(weights, dict) else None
    if not isinstance(named, dict) or set(named) != set(WEIGHTS):
        raise UserError(f"{path}: not the weights {', '.join(WEIGHTS)}; run the step mert")
    return [float(named[name]) for name in WEIGHTS]


def run(arguments: argparse.Namespace) -> None:
    """Translate every line."""
    weights, sentences = read_weights(arguments.weights), read_sentences(arguments.source)
    lines = []
    with (
        assembled(arguments, sentences) as folder,
        Decoders(folder, search_of(arguments), arguments.threads) as decoders,
        Progress(f"decode {arguments.source.name}", len(sentences), "sentences") as progress,
    ):
        for number, (source, found) in enumerate(zip(sentences, decoders.decode(sentences, weights), strict=True), 1):
            translation = found[0].words if found else ()
            if source and not translation:
                warn(f"{arguments.source}: line {number} was translated to nothing; its words were copied")
                translation = tuple(source)
            lines.append(" ".join(translation))
            progress.update(1)
    write_lines(arguments.output, lines)
