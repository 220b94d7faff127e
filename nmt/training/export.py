"""Make a model of the latest checkpoint of a training, whether it is still running, has ended early or was killed.

With a patience it is the best model so far, otherwise the last one. The training is not disturbed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from nmt.corpora.shortlist import add_codes_argument, read_shortlists
from nmt.model.network import Network
from nmt.settings.checks import build
from nmt.settings.variant import Architecture, keys_of
from nmt.system.files import UserError
from nmt.system.options import OutputFolder
from nmt.trained import vocabulary_files, write_trained
from nmt.training.checkpoint import Checkpoint, check_apart, fingerprint, look_at_checkpoint


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--checkpoints", required=True, type=Path, metavar="DIR", help="folder of the checkpoints of the training"
    )
    parser.add_argument(
        "--output", required=True, type=OutputFolder, metavar="DIR", help="folder for the model, as train writes it"
    )
    parser.add_argument(
        "--shortlists",
        required=True,
        nargs=2,
        type=Path,
        metavar=("SOURCE", "TARGET"),
        help="the words of both sides, those of the training",
    )
    add_codes_argument(parser)
    parser.add_argument(
        "--languages", required=True, nargs=2, metavar=("SOURCE", "TARGET"), help="language codes, such as en and fr"
    )
    parser.add_argument(
        "--bf16", action="store_true", help="store the weights in bfloat16: half the size, about three digits each"
    )


def run(arguments: argparse.Namespace) -> None:
    check_apart(arguments.output, arguments.checkpoints)
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
    if arguments.bf16:
        model.bfloat16()
    write_trained(arguments.output, model, vocabulary_files(arguments.shortlists, arguments.codes), summary)


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
