"""Write the metrics of an experiment's trainings as event files for TensorBoard; a repeated call writes them anew.

Each model is a run; steps are updates, and the relative time is that spent in training.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from nmt.settings.extends import add_arguments as add_config_arguments
from nmt.settings.extends import read_config
from nmt.system.files import UserError
from nmt.training.metrics import Record, latest, read_metrics

TAGS = {
    "train_nll": "NLL of a sentence/training",
    "development_nll": "NLL of a sentence/development",
    "gradient_norm": "gradient norm",
    "words_per_second": "words a second",
}
EVENTS = "events.out.tfevents.*"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_config_arguments(parser)
    parser.add_argument("--output", required=True, type=Path, metavar="DIR", help="for `tensorboard --logdir DIR`")


def run(arguments: argparse.Namespace) -> None:
    config = read_config(arguments.overlays)
    found = {name: file for name in config.variants if (file := latest(config.experiment, name)) is not None}
    if not found:
        raise UserError(f"data/{config.experiment}: no training has begun; there is nothing to show yet")
    for variant, file in found.items():
        write_events(read_metrics(file), arguments.output / variant)


def write_events(records: list[Record], folder: Path) -> None:
    """Put an event file of `records` into `folder`, in the place of earlier ones."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise UserError("TensorBoard is not installed: pip install tensorboard") from None
    folder.mkdir(parents=True, exist_ok=True)
    earlier = list(folder.glob(EVENTS))
    with tempfile.TemporaryDirectory(dir=folder) as partial:
        with SummaryWriter(partial) as writer:
            for record in records:
                for name, tag in TAGS.items():
                    if record.get(name) is not None:
                        writer.add_scalar(tag, record[name], int(record["updates"] or 0), record["seconds"])
        for file in earlier:
            file.unlink()
        for file in Path(partial).glob(EVENTS):
            os.replace(file, folder / file.name)
