"""Average negative log-likelihood of sentence pairs for Table 2, in nats per sentence, EOS included."""

from __future__ import annotations

import argparse
import math
from array import array
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.corpora.pairs import LONGEST
from nmt.system.device import prepare
from nmt.system.errors import UserError, warn
from nmt.system.options import Output, add_device_arguments
from nmt.system.text import write_json
from nmt.trained import load_trained
from nmt.training.likelihood import id_pairs, sentence_nll


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, type=Path, metavar="DIR", help="folder that the step train wrote")
    parser.add_argument(
        "--texts",
        required=True,
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help=f"tokenized text, one sentence per line; at most {LONGEST} words of a line are used",
    )
    parser.add_argument(
        "--maximum-length",
        type=int,
        default=math.inf,
        metavar="WORDS",
        help="score only pairs of at most this many words per side, as in the model's training (default: all)",
    )
    parser.add_argument(
        "--sample", type=int, metavar="PAIRS", help="score only a random sample of this many pairs; needs --seed"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the sample")
    parser.add_argument(
        "--output",
        type=Output,
        required=True,
        metavar="FILE",
        help="JSON with the numbers of pairs, of short enough pairs, and of scored sentences and words, and the NLL in "
        "nats: its mean and that of each sentence",
    )
    add_device_arguments(parser)


class Flat:
    """Sentences of ids in 4 bytes a word, because lists of a whole training text would take ten times as much."""

    def __init__(self) -> None:
        self._ids = array("I")
        self._ends = array("Q", [0])

    def append(self, sentence: list[int]) -> None:
        self._ids.extend(sentence)
        self._ends.append(len(self._ids))

    def lengths(self) -> NDArray[np.int64]:
        ends = np.array(self._ends, np.int64)
        return ends[1:] - ends[:-1]

    def __getitem__(self, number: int) -> Sequence[int]:
        return self._ids[self._ends[number] : self._ends[number + 1]]


def run(arguments: argparse.Namespace) -> None:
    if arguments.sample is not None and arguments.seed is None:
        raise UserError("--seed: missing; a sample needs one")
    if arguments.sample == 0:
        raise UserError("--sample 0: must be 1 or more")
    device = prepare(arguments)
    trained = load_trained(arguments.model, device)
    sides = Flat(), Flat()
    for pair in id_pairs(arguments.texts, (trained.source, trained.target)):
        for side, ids in zip(sides, pair, strict=True):
            side.append(ids)
    lengths = np.maximum(*(side.lengths() for side in sides))
    short = np.flatnonzero(lengths <= arguments.maximum_length)
    if not len(short):
        longest = arguments.maximum_length
        raise UserError(f"{arguments.texts[0]}: no pair has at most {longest} words per side; raise --maximum-length")
    scored = short
    if arguments.sample is not None and arguments.sample < len(short):
        drawn = np.random.default_rng(arguments.seed).choice(len(short), arguments.sample, replace=False)
        scored = short[np.sort(drawn)]
    if long := np.count_nonzero(lengths[scored] > LONGEST):
        warn(f"{arguments.texts[0]}: only the first {LONGEST} words per side are used, in {long} of the pairs")
    sources, targets = ([side[number][:LONGEST] for number in map(int, scored)] for side in sides)
    losses = sentence_nll(trained.model, sources, targets, device)
    figures = {
        "pairs": len(lengths),
        "short_pairs": len(short),
        "sentences": len(losses),
        "words": sum(len(target) + 1 for target in targets),
        "nll": float(np.mean(losses)),
        "per_sentence": losses,
    }
    write_json(arguments.output, figures)
