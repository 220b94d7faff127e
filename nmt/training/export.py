"""Make a model from the latest checkpoint of a training run, or copy a model, on request at half the size.

The run may have ended early, have been killed or be still active, which does not disturb it. With a patience, the model
is the best one of the checkpoint, otherwise the last one.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from nmt.corpora.binarize import digests
from nmt.corpora.shortlist import Shortlist, add_codes_argument, read_shortlists
from nmt.model.network import Network
from nmt.settings.checks import build
from nmt.settings.sections import language
from nmt.settings.variant import Architecture, keys_of
from nmt.system.errors import UserError
from nmt.system.files import SUMMARY
from nmt.system.options import OutputFolder
from nmt.system.text import read_json
from nmt.trained import check_output, load_trained, write_trained
from nmt.training.checkpoint import FOLLOWS, Checkpoint, fingerprint, look_at_checkpoint

Parts = tuple[Network, list[Shortlist], Mapping[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    origin = parser.add_mutually_exclusive_group(required=True)
    origin.add_argument("--checkpoints", type=Path, metavar="DIR", help="folder of the checkpoints of a training run")
    origin.add_argument("--model", type=Path, metavar="DIR", help="folder of a trained model")
    parser.add_argument(
        "--output", required=True, type=OutputFolder, metavar="DIR", help="folder for the model, as train writes it"
    )
    parser.add_argument(
        "--shortlists",
        nargs=2,
        type=Path,
        metavar=("SOURCE", "TARGET"),
        help="the words of both sides, those of the training; needed with --checkpoints",
    )
    add_codes_argument(parser)
    parser.add_argument(
        "--languages",
        type=language,
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help="language codes, such as en and fr; needed with --checkpoints",
    )
    parser.add_argument(
        "--bf16", action="store_true", help="store the weights in bfloat16: half the size, about three digits each"
    )


def run(arguments: argparse.Namespace) -> None:
    check_output(arguments.output)
    model, shortlists, summary = of_checkpoint(arguments) if arguments.model is None else of_model(arguments)
    if arguments.bf16:
        model.bfloat16()
    write_trained(arguments.output, model, shortlists, summary)


def of_model(arguments: argparse.Namespace) -> Parts:
    """The network, the shortlists and the summary of a trained model."""
    if arguments.shortlists or arguments.codes or arguments.languages:
        raise UserError("--shortlists, --codes, --languages: --model has its own; leave them out")
    trained = load_trained(arguments.model)
    return trained.model, [trained.source, trained.target], read_json(arguments.model / SUMMARY)


def of_checkpoint(arguments: argparse.Namespace) -> Parts:
    """The same for the latest checkpoint of a training run."""
    if not arguments.shortlists or not arguments.languages:
        raise UserError("--shortlists, --languages: both are needed with --checkpoints; name those of the training")
    checkpoint = look_at_checkpoint(arguments.checkpoints)
    shortlists = read_shortlists(arguments)
    if checkpoint.shortlists not in ({}, digests(shortlists)):
        raise UserError("--shortlists: not those of the training; name its own, source first")
    model = built(checkpoint, list(map(len, shortlists)))
    if checkpoint.settings.get("codes") != (fingerprint(arguments.codes) if arguments.codes else None):
        raise UserError("--codes: not those of the training; name its own, or none for a model of words")
    state, batch = checkpoint.state, checkpoint.settings.get("batch", 0)
    alone = {
        "pairs_seen": state.updates * batch,
        "pairs_seen_best": model.updates * batch,
        "hours": state.seconds / 3600,
    }
    summary = {
        "updates": state.updates,
        "updates_best": model.updates,
        **state.scores(best=bool(checkpoint.best)),
        # Those of a training that continues another include the other's, which its checkpoint does not hold.
        **({} if FOLLOWS in checkpoint.settings else alone),
        "finished": False,
        "languages": arguments.languages,
        "normalize": checkpoint.normalize,
    }
    return model, shortlists, summary


def built(checkpoint: Checkpoint, symbols: list[int]) -> Network:
    """The model of `checkpoint`; UserError if its shortlists do not have the sizes `symbols`."""
    known = {key: value for key, value in checkpoint.settings.items() if key in keys_of(Architecture)}
    source_symbols, target_symbols = symbols
    with torch.device("meta"):
        model = Network(build(Architecture, known, "checkpoint"), source_symbols, target_symbols)
    try:
        model.load_state_dict(checkpoint.best or checkpoint.model, assign=True)
    except RuntimeError:
        raise UserError("--shortlists: not those of the training; name its own, source first") from None
    model.updates = checkpoint.state.best_updates if checkpoint.best else checkpoint.state.updates
    return model
