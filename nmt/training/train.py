"""Train one variant (Section 4.2 and Appendix B), or resume it from its last checkpoint. SIGTERM or SIGINT (Ctrl-C)
end it after the current update, with a checkpoint and exit code 75. Several processes started by torchrun train one
model, each on its share of every minibatch.

The cost is the summed negative log-likelihood of a minibatch, its gradient is scaled down to norm `clip_norm`, and the
development set is scored at intervals. The folder that is written holds all that a translation needs.
"""

from __future__ import annotations

import argparse
import shutil
from contextlib import nullcontext
from pathlib import Path

import torch

from nmt.corpora.binarize import Bitext
from nmt.corpora.shortlist import Shortlist
from nmt.model.initialization import initialize
from nmt.model.network import Network
from nmt.settings.variant import Variant
from nmt.system.device import choose_device, keep_memory, set_threads
from nmt.system.files import UserError, atomic, read_json, write_json
from nmt.trained import MODEL, SOURCE, SUMMARY, TARGET, load_with_shortlists, save_model
from nmt.training.batches import Batches
from nmt.training.checkpoint import fingerprint, locked, remove_checkpoints
from nmt.training.likelihood import read_ids
from nmt.training.loop import Training
from nmt.training.metrics import METRICS
from nmt.training.parallel import Processes, joined


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--settings", required=True, metavar="JSON", help="the settings of the variant, by name")
    parser.add_argument(
        "--data", required=True, type=Path, metavar="DIR", help="training text, as written by the step binarize"
    )
    parser.add_argument(
        "--development",
        required=True,
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help="tokenized development text, one sentence a line",
    )
    parser.add_argument(
        "--shortlists",
        required=True,
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help="the words of both sides, as written by the step shortlist",
    )
    parser.add_argument(
        "--languages", required=True, nargs=2, metavar=("SOURCE", "TARGET"), help="language codes, such as en and fr"
    )
    parser.add_argument(
        "--initial", type=Path, metavar="DIR", help="trained model to continue, for a variant that continues another"
    )
    parser.add_argument(
        "--threads", type=int, help="CPU threads of each process (default: one a core; under torchrun, 1)"
    )
    parser.add_argument(
        "--checkpoints",
        required=True,
        type=Path,
        metavar="DIR",
        help="folder of the last two checkpoints, from which an interrupted training resumes; removed at the end",
    )
    parser.add_argument(
        "--output",
        required=True,
        type=Path,
        metavar="DIR",
        help="folder for the model, its shortlists, summary.json (figures for Table 2) and metrics.jsonl (mean cost,"
        " norm of the gradient and target words a second of every 50 updates, and development scores; in nats a"
        " sentence)",
    )


def run(arguments: argparse.Namespace) -> None:
    set_threads(arguments.threads)
    keep_memory()
    variant = Variant.from_json(arguments.settings)
    with (
        joined(choose_device(variant.run_time.device)) as processes,
        locked(arguments.checkpoints) if processes.first else nullcontext(),
    ):
        training = set_up(arguments, variant, processes)
        training.resume()
        training.run()
        if processes.first:
            write(training, arguments)


def set_up(arguments: argparse.Namespace, variant: Variant, processes: Processes) -> Training:
    """The training that the command line describes, at its beginning."""
    optimization = variant.optimization
    shortlists = [Shortlist.read(path) for path in arguments.shortlists]
    bitext = Bitext(arguments.data)
    batches = Batches(bitext, optimization.maximum_length, optimization.batch, optimization.sort_batches)
    development = read_ids(arguments.development, shortlists)
    if (variant.continues is None) != (arguments.initial is None):
        raise UserError("--initial: needed by a variant that continues another, and by no other")
    settings = {
        **variant.learned(),
        "data": fingerprint(sorted(arguments.data.iterdir())),
        "development": fingerprint(arguments.development),
    }
    hours_before = 0.0
    if arguments.initial is None:
        source_symbols, target_symbols = map(len, shortlists)
        model = Network(variant.architecture, source_symbols, target_symbols, optimization.implementation)
        scales = optimization.initialization_scale, optimization.attention_scale, optimization.forget_bias
        initialize(model, optimization.seed, *scales)
    else:
        earlier, *_ = load_with_shortlists(arguments.initial / MODEL, arguments.shortlists, torch.device("cpu"))
        settings["initial"] = fingerprint([arguments.initial / MODEL])
        hours_before = read_json(arguments.initial / SUMMARY)["hours"]
        model = Network(variant.architecture, *earlier.symbols, optimization.implementation)
        model.load_state_dict(earlier.state_dict())
        model.updates = earlier.updates
    return Training(variant, model, batches, development, arguments.checkpoints, settings, hours_before, processes)


def write(training: Training, arguments: argparse.Namespace) -> None:
    """Write the folder of a finished training, the model last, and remove the checkpoints."""
    summary = {**training.summary(), "languages": arguments.languages}
    source, target = arguments.shortlists
    for original, name in ((training.metrics, METRICS), (source, SOURCE), (target, TARGET)):
        with atomic(arguments.output / name) as partial:
            shutil.copyfile(original, partial)
    write_json(arguments.output / SUMMARY, summary)
    if training.best:
        training.model.load_state_dict(training.best)
    training.model.updates = summary["updates_best"]
    save_model(training.model, arguments.output / MODEL)
    remove_checkpoints(arguments.checkpoints)
