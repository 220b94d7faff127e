"""Translate tokenized text with the phrase-based system; a word that no phrase has is copied."""

from __future__ import annotations

import argparse
from pathlib import Path

from nmt.phrase_based.text import without_gaps
from nmt.phrase_based.thot.decoder import (
    WEIGHTS,
    Decoders,
    add_decoder_arguments,
    assembled,
    read_sentences,
    search_of,
)
from nmt.system.files import UserError, read_json, write_lines
from nmt.system.progress import Progress


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
    with (
        assembled(arguments, sentences) as folder,
        Decoders(folder, search_of(arguments), arguments.threads) as decoders,
        Progress(f"decode {arguments.source.name}", len(sentences), "sentences") as progress,
    ):
        found = []
        for best in decoders.decode(sentences, weights):
            found.append(" ".join(best[0].words) if best else "")
            progress.update(1)
    sources = [" ".join(words) for words in sentences]
    write_lines(arguments.output, without_gaps(sources, found, arguments.source))
