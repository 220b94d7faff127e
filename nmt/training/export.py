"""Make a model from the latest checkpoint of a training run, or copy a model, on request at half the size.

The run may still go on, or have ended early or been killed; it is not disturbed. With a patience, the model is the best
one of the checkpoint, otherwise the last one.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from nmt.corpora.shortlist import add_codes_argument, read_shortlists
from nmt.model.network import Network
from nmt.settings.checks import build
from nmt.settings.sections import language
from nmt.settings.variant import Architecture, keys_of
from nmt.system.files import UserError, read_json
from nmt.system.options import OutputFolder
from nmt.trained import CODES, SOURCE, SUMMARY, TARGET, load_trained, vocabulary_files, write_trained
from nmt.training.checkpoint import Checkpoint, check_apart, fingerprint, look_at_checkpoint

VOCABULARIES = (SOURCE, TARGET, *CODES)
Parts = tuple[Network, Mapping[str, Path], Mapping[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    origin = parser.add_mutually_exclusive_group(required=True)
    origin.add_argument("--checkpoints", type=Path, metavar="DIR", help="folder of the checkpoints of a training")
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
    if arguments.model is not None:
        model, copies, summary = of_model(arguments)
    else:
        model, copies, summary = of_checkpoint(arguments)
    if arguments.bf16:
        model.bfloat16()
    write_trained(arguments.output, model, copies, summary)


def of_model(arguments: argparse.Namespace) -> Parts:
    """The network, the vocabularies and the summary of a trained model. Raises UserError."""
    if arguments.output.resolve() == arguments.model.resolve():
        raise UserError(f"--output: {arguments.output} is the folder of --model; name another folder")
    if arguments.shortlists or arguments.codes or arguments.languages:
        raise UserError("--shortlists, --codes, --languages: --model has its own; leave them out")
    trained = load_trained(arguments.model)
    copies = {name: arguments.model / name for name in VOCABULARIES if (arguments.model / name).exists()}
    return trained.model, copies, read_json(arguments.model / SUMMARY)


def of_checkpoint(arguments: argparse.Namespace) -> Parts:
    """The same of the latest checkpoint of a training. Raises UserError."""
    check_apart(arguments.output, arguments.checkpoints)
    if not arguments.shortlists or not arguments.languages:
        raise UserError("--shortlists, --languages: both are needed with --checkpoints; name those of the training")
    checkpoint = look_at_checkpoint(arguments.checkpoints)
    model = built(checkpoint, [len(shortlist) for shortlist in read_shortlists(arguments)])
    if checkpoint.settings.get("codes") != (fingerprint(arguments.codes) if arguments.codes else None):
        raise UserError("--codes: not those of the training; name its own, or none for a model of words")
    state = checkpoint.state
    summary = {
        "updates": state.updates,
        "updates_best": model.updates,
        **state.scores(best=bool(checkpoint.best)),
        "finished": False,
        "languages": arguments.languages,
    }
    return model, vocabulary_files(arguments.shortlists, arguments.codes), summary


def built(checkpoint: Checkpoint, symbols: list[int]) -> Network:
    """The model of `checkpoint`, for shortlists of so many symbols; UserError if it has others."""
    known = {key: value for key, value in checkpoint.settings.items() if key in keys_of(Architecture)}
    source_symbols, target_symbols = symbols
    with torch.device("meta"):
        model = Network(build(Architecture, known, "checkpoint"), source_symbols, target_symbols)
    try:
        model.load_state_dict(checkpoint.best or checkpoint.model, assign=True)
    except RuntimeError:
        raise UserError("--shortlists: not those of the training; name its own") from None
    model.updates = checkpoint.state.best_updates if checkpoint.best else checkpoint.state.updates
    return model
