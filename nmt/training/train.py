"""Train one variant (Section 4.2 and Appendix B), or resume it from its last checkpoint. SIGTERM or SIGINT (Ctrl-C)
end it after the current update, with a checkpoint and exit code 75; --minutes ends it with a model and a checkpoint.
Several processes started by torchrun train one model, each on its share of every minibatch.

The cost is the summed negative log-likelihood of a minibatch. Its gradient is scaled down to norm `clip_norm`, and the
development set is scored at intervals. The output folder holds all that translation needs.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from nmt.corpora.binarize import META, Bitext
from nmt.corpora.languages import TOKENIZED, bleu_tokenizer
from nmt.corpora.normalization import add_normalize_argument
from nmt.corpora.pieces import Pieces
from nmt.corpora.shortlist import Shortlist, add_codes_argument, read_shortlists
from nmt.model.initialization import initialize
from nmt.model.network import Network
from nmt.settings.checks import finite, integer, optional, read_values
from nmt.settings.sections import language
from nmt.settings.variant import Variant
from nmt.system.device import choose_device, keep_memory, set_threads
from nmt.system.errors import UserError
from nmt.system.files import MODEL, SUMMARY, check_apart
from nmt.system.options import OutputFolder, add_threads_argument
from nmt.system.text import read_json
from nmt.trained import check_output, load_trained, write_trained
from nmt.training.batches import Batches
from nmt.training.checkpoint import FORMER, check_folder, fingerprint, locked, remove_checkpoints
from nmt.training.likelihood import read_ids
from nmt.training.loop import Before, Training
from nmt.training.metrics import LATEST, METRICS
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
        type=Path,
        metavar=("SOURCE", "TARGET"),
        help="tokenized development text, one sentence per line",
    )
    parser.add_argument(
        "--shortlists",
        required=True,
        nargs=2,
        type=Path,
        metavar=("SOURCE", "TARGET"),
        help="the words of both sides, as written by the step shortlist",
    )
    add_codes_argument(parser)
    parser.add_argument(
        "--languages",
        type=language,
        required=True,
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help="codes, such as en and fr",
    )
    add_normalize_argument(parser)
    parser.add_argument(
        "--initial", type=Path, metavar="DIR", help="trained model to continue, for a variant that continues another"
    )
    add_threads_argument(parser, "CPU threads of each process (default: one a core; under torchrun, 1)")
    parser.add_argument(
        "--checkpoints",
        required=True,
        type=OutputFolder,
        metavar="DIR",
        help="folder for the last two checkpoints, from which an interrupted training resumes, and for nothing else;"
        " removed at the end (but see --code)",
    )
    parser.add_argument(
        "--code",
        metavar="DIGEST",
        help="digest of this step's code; with it, the last checkpoint of a finished training is kept, from which the"
        " same command with the same code writes the model again",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=math.inf,
        metavar="N",
        help="end after this many minutes of training, with the model so far; the checkpoint is kept, and the"
        " same command resumes from it (default: no limit)",
    )
    parser.add_argument(
        "--output",
        required=True,
        type=OutputFolder,
        metavar="DIR",
        help="folder for the model, its shortlists, summary.json (figures for Table 2) and metrics.jsonl (mean cost,"
        " norm of the gradient and target words per second of every 50 updates, and development scores; in nats per"
        " sentence, or BLEU in percent)",
    )


def run(arguments: argparse.Namespace) -> None:
    set_threads(arguments.threads)
    keep_memory()
    variant = Variant.from_json(arguments.settings)
    if not arguments.minutes > 0:
        raise UserError(f"--minutes {arguments.minutes:g}: must be more than 0")
    check_folder(arguments.checkpoints)
    check_apart([arguments.output], [arguments.checkpoints])
    check_apart([arguments.checkpoints], [arguments.output])
    with (
        joined(choose_device(variant.run_time.device)) as processes,
        locked(arguments.checkpoints, wait=processes.alone) if processes.first else nullcontext(),
    ):
        training, shortlists = set_up(arguments, variant, processes)
        [finished] = processes.any(processes.first and is_finished(training, arguments.output))
        if finished:
            if processes.first:
                relabel(arguments, variant)
                folders = f"it and {arguments.checkpoints}" if arguments.code else "it"
                print(
                    f"{training.label}: {arguments.output} holds the model that these settings give; "
                    f"delete {folders} to train again",
                    file=sys.stderr,
                )
            return
        if processes.first:
            check_output(arguments.output)
        training.resume()
        kept = [LATEST, FORMER] if training.finished() else [LATEST]  # the former one may be of an unfinished training
        finished = training.run(arguments.minutes)
        if processes.first:
            write(training, finished, shortlists, arguments)
            if finished:
                remove_checkpoints(arguments.checkpoints, *(kept if arguments.code else ()))
            else:
                print(
                    f"{training.label}: ended early, after update {training.state.updates:,} of {training.last:,}; "
                    "the same command resumes it",
                    file=sys.stderr,
                )


def set_up(arguments: argparse.Namespace, variant: Variant, processes: Processes) -> tuple[Training, list[Shortlist]]:
    """The training run that the command line describes, before its first update, and the shortlists of both sides."""
    optimization = variant.optimization
    shortlists = read_shortlists(arguments)
    bitext = Bitext(arguments.data)
    bitext.require(shortlists, arguments.shortlists)
    development = read_ids(arguments.development, shortlists)
    model, before = first_model(arguments.initial, variant, shortlists)
    training = Training(
        variant=variant,
        model=model,
        batches=Batches(bitext, optimization.maximum_length, optimization.batch, optimization.sort_batches),
        development=development,
        folder=arguments.checkpoints,
        settings=learned(arguments, variant, shortlists),
        before=before,
        processes=processes,
        normalize=arguments.normalize,
        code=arguments.code or "",
        bleu=greedy_bleu(arguments, shortlists) if optimization.stop_on == "bleu" else None,
    )
    return training, shortlists


def first_model(initial: Path | None, variant: Variant, shortlists: list[Shortlist]) -> tuple[Network, Before]:
    """The model before the first update, drawn or read from the folder `initial`, and how it was trained."""
    optimization = variant.optimization
    if (variant.continues is None) != (initial is None):
        raise UserError("--initial: needed by a variant that continues another, and by no other")
    source, target = shortlists
    model = Network(variant.architecture, len(source), len(target), optimization.implementation)
    if initial is None:
        initialize(model, optimization)
        return model, Before()
    earlier = load_trained(initial)
    if any(
        (one.symbols, one.codes) != (other.symbols, other.codes)
        for one, other in zip(shortlists, (earlier.source, earlier.target), strict=True)
    ):
        raise UserError(f"--shortlists, --codes: not those of the model {initial}; name its own")
    if earlier.model.architecture.layers != variant.architecture.layers:
        raise UserError(f"--initial: the architecture of {initial} is not this variant's; name another")
    model.load_state_dict(earlier.model.state_dict())
    model.updates = earlier.model.updates
    amount, count = optional(finite(0)), optional(integer(0))
    known = read_values(initial / SUMMARY, hours=amount, pairs_seen_best=count, passes_best=amount)
    if known["hours"] is None:
        raise UserError(
            f"--initial: {initial} does not say how long it was trained; name a model that train has written"
        )
    return model, Before(known["hours"], known["pairs_seen_best"], known["passes_best"])


def learned(arguments: argparse.Namespace, variant: Variant, shortlists: list[Shortlist]) -> dict[str, Any]:
    """Everything that decides the trained weights: the variant's settings and the fingerprints of what is read."""
    scored_by = tokenizer_of(arguments, shortlists) if variant.optimization.stop_on == "bleu" else TOKENIZED
    read = {"data": [arguments.data / META], "development": arguments.development, "codes": arguments.codes}
    if arguments.initial is not None:
        read["initial"] = [arguments.initial / MODEL]
    own = {} if scored_by == TOKENIZED else {"bleu_tokenizer": scored_by}
    return variant.learned() | own | {name: fingerprint(paths) for name, paths in read.items() if paths}


def tokenizer_of(arguments: argparse.Namespace, shortlists: list[Shortlist]) -> str:
    """The tokenizer of sacreBLEU that scores translations of the development set."""
    return bleu_tokenizer(arguments.languages[1]) if isinstance(shortlists[1].codes, Pieces) else TOKENIZED


def greedy_bleu(arguments: argparse.Namespace, shortlists: list[Shortlist]) -> Callable[[Network, Processes], float]:
    """The BLEU of the development set by greedy search. Only variants that use it import its modules."""
    from nmt.training.greedy import GreedyBLEU

    return GreedyBLEU(arguments.development, shortlists, tokenizer_of(arguments, shortlists))


def relabel(arguments: argparse.Namespace, variant: Variant) -> None:
    """Write a finished model again if its languages, its normalization or the seed, if unused, have changed."""
    summary = read_json(arguments.output / SUMMARY)
    wanted = {"languages": arguments.languages, "normalize": arguments.normalize, "seed": variant.optimization.seed}
    if any(summary.get(key) != value for key, value in wanted.items()):
        trained = load_trained(arguments.output)
        shortlists, metrics = [trained.source, trained.target], arguments.output / METRICS
        kept = metrics if metrics.exists() else None
        write_trained(arguments.output, trained.model, shortlists, {**summary, **wanted}, kept)


def is_finished(training: Training, output: Path) -> bool:
    """Whether `output` holds the whole model that a finished run with the same settings and data wrote."""
    if not output.exists():
        return False
    try:
        load_trained(output)
    except UserError:
        return False
    summary = read_json(output / SUMMARY)
    return summary.get("settings_digest") == training.settings_digest and summary.get("finished", True)


def write(training: Training, finished: bool, shortlists: list[Shortlist], arguments: argparse.Namespace) -> None:
    """Write the folder of a run that has ended."""
    summary = {**training.summary(), "finished": finished, "languages": arguments.languages}
    summary["normalize"] = arguments.normalize
    if training.best:
        training.model.load_state_dict(training.best)
    training.model.updates = summary["updates_best"]
    write_trained(arguments.output, training.model, shortlists, summary, training.metrics)
