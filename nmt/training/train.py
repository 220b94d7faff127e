"""Train one variant, Section 4.2 and Appendix B, and go on from its last checkpoint where there is one.
SIGTERM or SIGINT (Ctrl-C) end it after the update under way with a checkpoint and exit code 75. Several processes that
torchrun starts train one model, each on its share of every batch.

The cost is the summed negative log-likelihood of a minibatch, its gradient is scaled down to norm `clip_norm`, and the
development set is scored at intervals. The model at the end is the last one or, with a patience, the best one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import shutil
import sys
import time
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from nmt.corpora.binarize import Bitext
from nmt.corpora.shortlist import Shortlist
from nmt.model.initialization import count_parameters, initialize
from nmt.model.network import Network, load_with_shortlists, save_model
from nmt.settings.variant import Variant
from nmt.system.device import choose_device, device_name, keep_memory, set_threads
from nmt.system.files import UserError, atomic, read_json, warn, write_json
from nmt.system.progress import Progress
from nmt.system.stop import Stop, StoppedError
from nmt.trained import MODEL, SOURCE, SUMMARY, TARGET
from nmt.training.batches import Batch, Batches
from nmt.training.checkpoint import (
    LATEST,
    Checkpoint,
    Interval,
    State,
    alone,
    read_checkpoint,
    remove_checkpoints,
    write_checkpoint,
)
from nmt.training.likelihood import Sentences, read_ids, sentence_nll
from nmt.training.metrics import METRICS
from nmt.training.parallel import Processes, joined
from nmt.training.prefetch import ahead
from nmt.training.update import make_update

UPDATES_A_RECORD = 50
SKIPS_ALLOWED = 20


class Training:
    """One training: the model, its optimizer, the data and how far it is."""

    def __init__(
        self,
        variant: Variant,
        model: Network,
        batches: Batches,
        development: tuple[Sentences, Sentences],
        folder: Path,
        settings: dict[str, Any],
        hours_before: float,
        processes: Processes,
    ) -> None:
        self.settings, self.hours_before, self.processes = settings, hours_before, processes
        self.variant, self.batches, self.development, self.folder = variant, batches, development, folder
        self.device = processes.device(choose_device(variant.device))
        self.model = model.to(self.device)
        self.update = make_update(self.model, variant, self.device, processes)
        self.start = model.updates
        self.state = State(updates=model.updates)
        self.pending: list[tuple[Tensor, Tensor]] = []  # cost and norm of the updates not yet read
        self.read_at = self.saved_at = 0.0
        self.best: dict[str, Tensor] = {}
        self.metrics = folder / METRICS
        if variant.batch < processes.world:
            raise UserError(f"{variant.label}: a batch of {variant.batch} for {processes.world} processes; start fewer")

    def resume(self) -> None:
        """Go on from the last checkpoint, if there is one."""
        with self.processes.first_alone():
            self.folder.mkdir(parents=True, exist_ok=True)
            checkpoint = read_checkpoint(self.folder, self.settings)
        if checkpoint is not None:
            self.model.load_state_dict(checkpoint.model)
            self.update.optimizer.load_state_dict(checkpoint.optimizer)
            self.state, self.best = checkpoint.state, checkpoint.best
            if self.processes.first:
                goes_on = f"{self.variant.label}: goes on from the checkpoint of update {self.state.updates:,}"
                print(goes_on, file=sys.stderr, flush=True)
        if self.processes.first:
            self.metrics.write_text(checkpoint.metrics if checkpoint else "", encoding="utf-8")
        everywhere = self.processes.sum(torch.tensor(self.state.updates))
        if everywhere != self.processes.world * self.state.updates:
            raise UserError(f"{self.folder}: not the same for every process; name a folder that all machines share")

    def checkpoint(self) -> None:
        """Write a checkpoint of the state between two updates."""
        self.read()
        if self.processes.first:
            checkpoint = Checkpoint(
                self.settings,
                self.state,
                self.model.state_dict(),
                self.update.optimizer.state_dict(),
                self.best,
                self.metrics.read_text(encoding="utf-8"),
            )
            write_checkpoint(self.folder, checkpoint)
        self.processes.wait()
        self.read_at = self.saved_at = time.monotonic()

    def finished(self) -> bool:
        """Whether the cap is reached, or the patience is at its end."""
        variant, state = self.variant, self.state
        waited = variant.patience and state.evaluations_without_improvement >= variant.patience
        return bool(waited) or state.updates >= self.start + variant.updates

    def run(self) -> None:
        """Update until finished, with records, evaluations and checkpoints on the way.

        Raises StoppedError, once a checkpoint is written, where a signal has asked any of the processes for it.
        """
        variant, state, processes = self.variant, self.state, self.processes
        last, shown = self.start + variant.updates, state.updates
        bar = Progress(variant.label, last, "updates", shown) if processes.first else nullcontext()
        with Stop(patient=not processes.alone) as stop, bar as progress, ahead(self.prepare, shown) as prepared:
            self.read_at = self.saved_at = time.monotonic()
            while not self.finished():
                batch, words = next(prepared)
                self.pending.append(self.update(batch.to(self.device)))
                state.updates += 1
                state.interval.words += words
                figures = None
                evaluated = state.updates % variant.evaluate_every == 0 or state.updates == last
                if evaluated or state.updates % UPDATES_A_RECORD == 0:
                    figures = self.record()
                if evaluated:
                    self.evaluate()
                stopped, due = processes.any(stop.asked, self.checkpoint_due())
                if stopped or due:
                    self.checkpoint()
                if stopped:
                    line = f"stopped; {self.folder / LATEST} is written, the same command goes on from it"
                    raise StoppedError(line if processes.first else "")
                if progress is not None and figures is not None:
                    progress.update(state.updates - shown, **figures, development_nll=state.development_nll)
                    shown = state.updates

    def prepare(self, number: int) -> tuple[Batch, int]:
        """This process's share of a minibatch, and the target words of the whole, ends of sentence counted."""
        batch = self.batches[number]
        share, words = self.processes.share(batch), int(batch.target_mask.sum())
        if self.device.type == "cuda":
            with torch.cuda.device(self.device):
                share = share.pinned()
        return share, words

    def checkpoint_due(self) -> bool:
        """Whether it is time for a checkpoint, by the clock or by the number of updates."""
        every = self.variant.checkpoint_every
        by_time = time.monotonic() - self.saved_at >= 60 * self.variant.checkpoint_minutes
        return by_time or (every > 0 and self.state.updates % every == 0)

    def read(self) -> None:
        """Take in what the updates since the last time have given: here alone the device is waited for."""
        interval = self.state.interval
        if self.pending:
            costs, norms = (torch.stack(values) for values in zip(*self.pending, strict=True))
            interval.costs += self.processes.sum(costs).tolist()
            interval.norms += norms.tolist()
            self.count_skipped(interval.norms[-len(self.pending) :])
            self.pending.clear()
        now = time.monotonic()
        interval.seconds += now - self.read_at
        self.read_at = now

    def count_skipped(self, norms: list[float]) -> None:
        """Count those of the latest updates that were skipped; UserError where too many in a row were."""
        state, label = self.state, self.variant.label
        for number, norm in enumerate(norms, state.updates - len(norms) + 1):
            if math.isfinite(norm):
                state.skipped_in_a_row = 0
                continue
            state.skipped += 1
            state.skipped_in_a_row += 1
            if self.processes.first:
                warn(f"{label}: update {number} skipped, its cost or gradient is not finite")
            if state.skipped_in_a_row > SKIPS_ALLOWED:
                latest = self.folder / LATEST
                good = f"the last good checkpoint is {latest}" if latest.exists() else "there is no checkpoint yet"
                raise UserError(
                    f"{label}: more than {SKIPS_ALLOWED} updates in a row were not finite; lower learning_rate or "
                    f"initialization_scale ({good})"
                )

    def record(self) -> dict[str, float | None]:
        """Add a line on the updates since the last record to the metrics, and return its figures."""
        self.read()
        state, interval = self.state, self.state.interval
        finite = [pair for pair in zip(interval.costs, interval.norms, strict=True) if math.isfinite(pair[1])]
        cost, norm = map(fmean, zip(*finite, strict=True)) if finite else (None, None)
        figures = {
            "train_nll": None if cost is None else cost / self.variant.batch,
            "gradient_norm": norm,
            "words_per_second": interval.words / interval.seconds,
        }
        state.seconds += interval.seconds
        state.target_words += interval.words
        state.interval = Interval()
        self.write_metrics(**figures)
        return figures

    def evaluate(self) -> None:
        """Score the development set, and keep the best model where a patience asks for it."""
        state, processes = self.state, self.processes
        sources, targets = (side[processes.rank :: processes.world] for side in self.development)
        share = math.fsum(sentence_nll(self.model, sources, targets, self.device))
        nll = processes.sum(torch.tensor(share, dtype=torch.float64)).item() / len(self.development[0])
        now = time.monotonic()
        state.seconds += now - self.read_at
        self.read_at = now
        state.development_nll = nll
        state.evaluations_without_improvement += 1
        if nll < state.best_nll:
            state.best_nll, state.best_updates = nll, state.updates
            state.evaluations_without_improvement = 0
            if self.variant.patience:
                self.best = {name: weight.detach().cpu().clone() for name, weight in self.model.state_dict().items()}
        self.write_metrics(development_nll=nll)

    def write_metrics(self, **figures: float | None) -> None:
        """Add one line to the metrics."""
        if self.processes.first:
            line = {"updates": self.state.updates, "seconds": round(self.state.seconds, 3), **figures}
            with open(self.metrics, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def summary(self) -> dict[str, Any]:
        """What Table 2 shows of this training. Updates, epochs and hours count those of the model it continues, too."""
        state = self.state
        best = state.best_updates if self.best else state.updates
        device = device_name(self.device)
        return {
            "variant": self.variant.name,
            "updates": state.updates,
            "updates_best": best,
            "updates_skipped": state.skipped,
            "epochs": state.updates / self.batches.epoch,
            "hours": self.hours_before + state.seconds / 3600,
            "device": device if self.processes.alone else f"{self.processes.world} x {device}",
            "precision": self.variant.precision,
            "parameters": count_parameters(self.model),
            "development_nll": state.best_nll if self.best else state.development_nll,
            "words_per_second": state.target_words / state.seconds,
            "seed": self.variant.seed,
            "settings_digest": hashlib.sha256(json.dumps(self.settings).encode()).hexdigest()[:16],
        }


def _fingerprint(paths: Iterable[str | Path]) -> str:
    """A digest of files, so that a checkpoint is never taken for one of others."""
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--settings", required=True, metavar="JSON", help="settings of the variant; one left out has the paper's value"
    )
    parser.add_argument(
        "--data", required=True, type=Path, metavar="DIR", help="training text, as the step binarize wrote it"
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
        help="words of each side, as the step shortlist wrote them",
    )
    parser.add_argument(
        "--languages", required=True, nargs=2, metavar=("SOURCE", "TARGET"), help="codes of both, as en and fr"
    )
    parser.add_argument(
        "--initial", type=Path, metavar="DIR", help="trained model to go on from, for a variant that continues another"
    )
    parser.add_argument("--threads", type=int, help="CPU threads of each process (one a core; under torchrun 1)")
    parser.add_argument(
        "--checkpoints",
        required=True,
        type=Path,
        metavar="DIR",
        help="where an interrupted run leaves its last two checkpoints, and goes on from; removed at the end",
    )
    parser.add_argument(
        "--output",
        required=True,
        type=Path,
        metavar="DIR",
        help="where the model goes with its shortlists, summary.json (what Table 2 shows) and metrics.jsonl (mean cost,"
        " gradient norm and target words a second of every 50 updates, development scores; in nats a sentence)",
    )


def run(arguments: argparse.Namespace) -> None:
    set_threads(arguments.threads)
    keep_memory()
    variant = Variant.from_json(arguments.settings)
    with (
        joined(choose_device(variant.device)) as processes,
        alone(arguments.checkpoints) if processes.first else nullcontext(),
    ):
        training = _training(arguments, variant, processes)
        training.resume()
        training.run()
        if processes.first:
            _write(training, arguments)


def _training(arguments: argparse.Namespace, variant: Variant, processes: Processes) -> Training:
    """The training that the command line describes, at its start."""
    shortlists = [Shortlist.read(path) for path in arguments.shortlists]
    batches = Batches(Bitext(arguments.data), variant.maximum_length, variant.batch, variant.window)
    development = read_ids(arguments.development, shortlists)
    if (variant.continues is None) != (arguments.initial is None):
        raise UserError("--initial: needed by a variant that continues another, and by no other")
    settings = {
        **variant.what_is_learned(),
        "data": _fingerprint(sorted(arguments.data.iterdir())),
        "development": _fingerprint(arguments.development),
    }
    hours_before = 0.0
    if arguments.initial is None:
        model = Network(variant, len(shortlists[0]), len(shortlists[1]))
        initialize(model, variant.seed)
    else:
        earlier, *_ = load_with_shortlists(arguments.initial / MODEL, arguments.shortlists, torch.device("cpu"))
        settings["initial"] = _fingerprint([arguments.initial / MODEL])
        hours_before = read_json(arguments.initial / SUMMARY)["hours"]
        model = Network(variant, *earlier.symbols)
        model.load_state_dict(earlier.state_dict())
        model.updates = earlier.updates
    return Training(variant, model, batches, development, arguments.checkpoints, settings, hours_before, processes)


def _write(training: Training, arguments: argparse.Namespace) -> None:
    """Write the folder of a finished training, which holds all that a translation needs, and drop its checkpoints."""
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
