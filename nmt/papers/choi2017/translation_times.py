"""Time how long several models take to translate a text, for Table 2.

The models translate the text in turns, so that other load on the machine slows all of them alike. A turn has as many
sentences of similar length as the larger batch, and every second turn takes the models in reverse order. Loading is
left out, and each model translates the last turn once before its time is taken.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.evaluation.sentences import paired
from nmt.settings.sections import Translate
from nmt.system.errors import UserError
from nmt.system.options import Output, add_device_arguments
from nmt.system.progress import SILENT_SECONDS, Progress
from nmt.system.tables import Cell, number, write_csv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nmt.model.network import Network
    from nmt.search.beam import BeamSettings

COLUMNS = ("model", "batch", "turn", "sentences", "seconds", "beam", "device")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--models", required=True, nargs="+", type=Path, metavar="DIR", help="folders that the step train wrote"
    )
    parser.add_argument("--labels", required=True, nargs="+", help="names of the models")
    parser.add_argument("--source", required=True, metavar="FILE", help="tokenized text, one sentence per line")
    parser.add_argument(
        "--sentences", type=int, default=0, metavar="N", help="only the first N sentences (default: 0, all)"
    )
    Translate.add_argument(parser)
    parser.add_argument(
        "--output", type=Output, required=True, metavar="CSV", help="the seconds of each model, batch and turn"
    )
    add_device_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    # These import PyTorch, which takes seconds: too long for --help.
    from nmt.search.beam import BeamSettings
    from nmt.search.text import to_symbols
    from nmt.search.translate import read_sources
    from nmt.system.device import device_name, prepare
    from nmt.trained import load_trained

    device = prepare(arguments)
    folders = paired(arguments.labels, "--models", arguments.models)
    models = {label: load_trained(folder, device) for label, folder in folders.items()}
    chosen: Translate = arguments.settings
    for trained in models.values():
        trained.freeze(chosen.precision)
    settings = BeamSettings(chosen.beam, minimum_length_ratio=chosen.minimum_length_ratio, fallback=chosen.fallback)
    batches = list(dict.fromkeys([1, chosen.batch]))
    networks, turns = {}, {}
    for label, trained in models.items():
        words = read_sources(arguments.source, None, trained, True)[: arguments.sentences or None]
        ids = [trained.source.ids(line) for line in to_symbols(words, trained.source, arguments.source) if line]
        if not ids:
            raise UserError(f"{arguments.source}: no words in the sentences to translate; name another text")
        ids.sort(key=len, reverse=True)
        networks[label] = trained.model
        turns[label] = [ids[first : first + chosen.batch] for first in range(0, len(ids), chosen.batch)]
    counts = {label: sum(map(len, parts)) for label, parts in turns.items()}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{label} of {count}" for label, count in counts.items())
        raise UserError(f"{arguments.source}: symbols of different sentences ({said}); time models of one vocabulary")
    for label, batch in product(networks, batches):
        seconds(networks[label], turns[label][-1], batch, settings)
    rows: list[list[Cell]] = []
    count = len(turns[arguments.labels[0]])
    with Progress("translation_times", count, "turns", silent=SILENT_SECONDS) as progress:
        for turn in range(count):
            for batch, label in product(batches, list(networks)[:: -1 if turn % 2 else 1]):
                sources = turns[label][turn]
                taken = number(seconds(networks[label], sources, batch, settings), 4)
                rows.append([label, batch, turn, len(sources), taken, chosen.beam, device_name(device)])
            progress.update(1)
    write_csv(arguments.output, COLUMNS, rows)


def seconds(model: Network, sources: Sequence[Sequence[int]], batch: int, settings: BeamSettings) -> float:
    """How long the translation of `sources` takes, `batch` sentences at a time."""
    from nmt.search.beam import search_all

    start = time.perf_counter()
    for _ in search_all(model, sources, batch, settings):
        pass
    return time.perf_counter() - start
