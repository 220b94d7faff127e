"""Write the metrics of an experiment's trainings as event files for TensorBoard; another call replaces them.

Each model is a run, EXPERIMENT/VARIANT, steps are updates, and relative time is training time. The learning rate
follows from the settings. A picture shows what a model with attention attends to, in sentences of the development set
and their references: the model is the finished one, or that of the latest checkpoint.
"""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.monitor.counts import updates_before
from nmt.settings.experiment import Experiment
from nmt.settings.extends import add_arguments as add_config_arguments
from nmt.settings.extends import read_experiment
from nmt.settings.variant import Optimization, Variant
from nmt.system.errors import UserError, warn
from nmt.system.files import partial_name
from nmt.system.options import OutputFolder
from nmt.system.stop import temporary_folder
from nmt.system.text import read_lines
from nmt.training.metrics import Record, folders, latest, read_metrics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nmt.corpora.shortlist import Shortlist
    from nmt.model.network import Network

TAGS = {
    "train_nll": "NLL of a sentence/training",
    "development_nll": "NLL of a sentence/development",
    "development_bleu": "BLEU/development",
    "learning_rate": "learning rate",
    "gradient_norm": "gradient norm",
    "words_per_second": "words a second",
}
ALIGNMENTS = "alignments"  # the tag of the pictures
PANELS = 4  # sentences in a picture
SHORTEST, LONGEST = 5, 20  # symbols of each side
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
    if not any(latest(experiment.name, name) for name in experiment.variants):
        raise UserError(f"data/{experiment.name}: no training has begun; start one to see its metrics")
    import torch.utils.tensorboard  # noqa: F401 (before the pictures: one line says where it is not installed)

    for name, variant in experiment.variants.items():
        file = latest(experiment.name, name)  # now, because a training that ends meanwhile moves it
        if file is None:
            continue
        records = read_metrics(file)
        add_learning_rates(records, variant.optimization, updates_before(experiment, variant))
        picture = None
        if variant.architecture.attention != "fixed":
            try:
                picture = draw_alignments(experiment, variant, file.parent)
            except UserError as error:
                warn(f"{variant.label}: no picture of its alignments: {error}")
        write_events(records, picture, arguments.output / experiment.name / name)


def add_learning_rates(records: list[Record], optimization: Optimization, before: int | None) -> None:
    """Add to each record of updates the learning rate of the last of them, as the training loop has it.

    `before` are the updates of the model that this one continues. Where they are not known, a falling rate is left out.
    """
    from nmt.training.optimizer import scheduled_rate

    for record in records:
        if "train_nll" not in record or (before is None and optimization.cooldown):
            continue
        left = (before or 0) + optimization.updates - (record["updates"] or 0) + 1  # before that update
        record["learning_rate"] = scheduled_rate(optimization, left)


def load(experiment: Experiment, variant: Variant, folder: Path) -> tuple[Network, list[Shortlist]]:
    """The finished model of a training in `folder`, or that of its latest checkpoint. Raises UserError."""
    from nmt.trained import load_trained
    from nmt.training.export import of_checkpoint

    if folder == folders(experiment.name, variant.name)[1]:
        trained = load_trained(folder)
        return trained.model, [trained.source, trained.target]
    data, subwords = Path("data") / experiment.name, experiment.subwords
    languages = [experiment.languages.source, experiment.languages.target]
    named = ["joint" if subwords.joint else language for language in languages] if subwords else []
    read = argparse.Namespace(
        checkpoints=folder,
        shortlists=[data / f"shortlist/{language}.tsv" for language in languages],
        codes=[data / ("pieces" if experiment.has_pieces else "bpe") / f"{name}.codes" for name in named],
        languages=languages,
    )
    model, shortlists, _ = of_checkpoint(read)
    return model.eval(), shortlists


def draw_alignments(experiment: Experiment, variant: Variant, folder: Path) -> tuple[int, Figure] | None:
    """The updates of the model in `folder`, and what it attends to in the first short sentences; None without any."""
    from nmt.corpora.shortlist import EOS_SYMBOL
    from nmt.report.drawing import style
    from nmt.report.heatmap import draw
    from nmt.report.panels import Panel
    from nmt.search.alignments import alignments

    model, shortlists = load(experiment, variant, folder)
    texts = []
    for shortlist, language in zip(shortlists, (experiment.languages.source, experiment.languages.target), strict=True):
        path = Path("data") / experiment.name / f"tokenized/development.{language}"
        texts.append(list(shortlist.split_lines((line.split() for line in read_lines(path)), str(path))))
    pairs = enumerate(zip(*texts, strict=True), 1)
    chosen = list(islice((one for one in pairs if all(SHORTEST <= len(side) <= LONGEST for side in one[1])), PANELS))
    if not chosen:
        return None
    ids = [[shortlist.ids(pair[side]) for _, pair in chosen] for side, shortlist in enumerate(shortlists)]
    panels = [
        Panel(f"line {line}", [*source, EOS_SYMBOL], [*target, EOS_SYMBOL], weights)
        for (line, (source, target)), weights in zip(chosen, alignments(model, *ids), strict=True)
    ]
    with style():
        return model.updates, draw(panels)


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """A folder in `folder` for files that are not finished. The next call removes what a killed process left."""
    place = partial_name(folder / "events")
    place.mkdir()
    try:
        with temporary_folder("events", place) as inner:
            yield inner
    finally:
        place.rmdir()


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Do not print an OSError of SummaryWriter's thread as a traceback: the main thread raises it at the end."""
    before = threading.excepthook
    threading.excepthook = lambda failed: None if isinstance(failed.exc_value, OSError) else before(failed)
    try:
        yield
    finally:
        threading.excepthook = before


def write_events(records: list[Record], picture: tuple[int, Figure] | None, folder: Path) -> None:
    """Write an event file of `records` and of a picture with its updates to `folder`, replacing earlier ones."""
    from torch.utils.tensorboard import SummaryWriter

    from nmt.report.drawing import one_font_warning

    folder.mkdir(parents=True, exist_ok=True)
    earlier = list(folder.glob(EVENTS))
    with unfinished(folder) as partial:
        with one_line_errors(), SummaryWriter(str(partial), filename_suffix=SUFFIX) as writer:
            for record in records:
                for name, tag in TAGS.items():
                    if record.get(name) is not None:
                        writer.add_scalar(tag, record[name], int(record["updates"] or 0), record["seconds"])
            if picture is not None:
                updates, figure = picture
                seconds = max((one["seconds"] or 0 for one in records if (one["updates"] or 0) <= updates), default=0)
                with one_font_warning(folder):
                    writer.add_figure(ALIGNMENTS, figure, updates, close=False, walltime=seconds)
        for file in earlier:
            file.unlink(missing_ok=True)
        for file in partial.glob(EVENTS):
            os.replace(file, folder / file.name)
