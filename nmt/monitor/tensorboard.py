"""Write the metrics of an experiment's trainings as event files for TensorBoard; another call replaces them.

Each model is a run, steps are updates, and relative time is training time.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from nmt.settings.extends import add_arguments as add_config_arguments
from nmt.settings.extends import read_experiment
from nmt.system.files import UserError
from nmt.system.options import OutputFolder
from nmt.training.metrics import Record, latest, read_metrics

TAGS = {
    "train_nll": "NLL of a sentence/training",
    "development_nll": "NLL of a sentence/development",
    "development_bleu": "BLEU/development",
    "gradient_norm": "gradient norm",
    "words_per_second": "words a second",
}
SUFFIX = ".nmt"  # of our event files; those of other programs in the same folder stay
EVENTS = f"events.out.tfevents.*{SUFFIX}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_config_arguments(parser)
    parser.add_argument(
        "--output",
        required=True,
        type=OutputFolder,
        metavar="DIR",
        help="folder of the event files, for `tensorboard --logdir DIR`",
    )


def run(arguments: argparse.Namespace) -> None:
    experiment = read_experiment(arguments.configs)
    found = {name: file for name in experiment.variants if (file := latest(experiment.name, name)) is not None}
    if not found:
        raise UserError(f"data/{experiment.name}: no training has begun; start one to see its metrics")
    for variant, file in found.items():
        write_events(read_metrics(file), arguments.output / variant)


def write_events(records: list[Record], folder: Path) -> None:
    """Write an event file of `records` to `folder`, replacing earlier ones."""
    from torch.utils.tensorboard import SummaryWriter

    folder.mkdir(parents=True, exist_ok=True)
    earlier = list(folder.glob(EVENTS))
    with tempfile.TemporaryDirectory(dir=folder) as partial:
        with SummaryWriter(partial, filename_suffix=SUFFIX) as writer:
            for record in records:
                for name, tag in TAGS.items():
                    if record.get(name) is not None:
                        writer.add_scalar(tag, record[name], int(record["updates"] or 0), record["seconds"])
        for file in earlier:
            file.unlink()
        for file in Path(partial).glob(EVENTS):
            os.replace(file, folder / file.name)
