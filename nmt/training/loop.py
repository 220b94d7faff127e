"""The training loop (Section 4.2, Appendix B): updates, records, evaluations and checkpoints, until the run ends.

A run ends after its maximum number of updates or, with a patience, after that many evaluations without improvement. It
yields its last model or, with a patience, its best one.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nmt.model.initialization import count_parameters
from nmt.model.network import Network
from nmt.settings.sections import NFC
from nmt.settings.variant import Variant
from nmt.system.device import choose_device, device_name, warn_if_slow
from nmt.system.errors import UserError, warn
from nmt.system.progress import Progress
from nmt.system.stop import Stop, StoppedError
from nmt.training.batches import Batch, Batches, ahead
from nmt.training.checkpoint import UNFINISHED, Checkpoint, Interval, State, foreign, read_checkpoint, write_checkpoint
from nmt.training.likelihood import Sentences, sentence_nll
from nmt.training.metrics import LATEST, METRICS, append_metrics
from nmt.training.optimizer import scheduled_rate
from nmt.training.parallel import Processes
from nmt.training.update import make_update

UPDATES_A_RECORD = 50
SKIPS_ALLOWED = 20


def rate(words: int, seconds: float) -> float | None:
    """Words per second; None if no time has passed on the clock."""
    return words / seconds if seconds else None


class Before(NamedTuple):
    """How the model that a training run continues was trained: its hours, and, up to its best update, pairs and passes.

    Pairs and passes are None where they are not known.
    """

    hours: float = 0.0
    pairs: int | None = 0
    passes: float | None = 0.0


class Training:
    """One training run: the model, its optimizer, the data and the progress.

    `settings` must equal those of the checkpoint that it resumes, `folder` holds the checkpoints, and `before` is about
    the model that this one continues. `bleu`, if given, is the score in percent that must improve.
    """

    def __init__(
        self,
        *,
        variant: Variant,
        model: Network,
        batches: Batches,
        development: tuple[Sentences, Sentences],
        folder: Path,
        settings: dict[str, Any],
        before: Before,
        processes: Processes,
        bleu: Callable[[Network, Processes], float] | None = None,
        normalize: str = NFC,
        code: str = "",
    ) -> None:
        self.normalize, self.code = normalize, code
        self.settings, self.before, self.processes, self.bleu = settings, before, processes, bleu
        self.label, self.name = variant.label, variant.name
        self.optimization, self.run_time = variant.optimization, variant.run_time
        self.batches, self.development, self.folder = batches, development, folder
        self.device = processes.device(choose_device(self.run_time.device))
        warn_if_slow(self.optimization.precision, self.device)
        self.model = model.to(self.device)
        self.update = make_update(self.model, self.optimization, self.device, processes)
        self.state = State(updates=model.updates)
        self.first, self.last = model.updates, model.updates + self.optimization.updates
        self.pending: list[tuple[Tensor, Tensor]] = []  # cost and norm of the updates that are not read yet
        self.read_at = self.saved_at = 0.0
        self.best: dict[str, Tensor] = {}
        self.metrics = folder / METRICS
        if (batch := self.optimization.batch) < processes.world:
            raise UserError(f"{self.label}: a batch of {batch} for {processes.world} processes; start fewer processes")

    def resume(self) -> None:
        """Resume from the last checkpoint, if there is one."""
        with self.processes.first_alone():
            self.folder.mkdir(parents=True, exist_ok=True)
            checkpoint = read_checkpoint(self.folder, self.settings, self.code)
        if checkpoint is not None:
            self.restore(checkpoint)
            if self.processes.first:
                print(
                    f"{self.label}: resumes from the checkpoint of update {self.state.updates:,}",
                    file=sys.stderr,
                    flush=True,
                )
        if self.processes.first:
            self.metrics.write_text(checkpoint.metrics if checkpoint else "", encoding="utf-8")
        everywhere = self.processes.sum(torch.tensor(self.state.updates))
        if everywhere != self.processes.world * self.state.updates:
            raise UserError(f"{self.folder}: differs from process to process; name a folder that all machines share")

    def restore(self, checkpoint: Checkpoint) -> None:
        """Restore the state of `checkpoint`. Raises UserError if it does not fit this model and its optimizer."""
        optimizer, group = self.update.optimizer, {*self.update.optimizer.param_groups[0]}
        shapes = {name: weight.shape for name, weight in self.model.state_dict().items()}
        try:
            self.model.load_state_dict(checkpoint.model)
            if not checkpoint.finished:
                optimizer.load_state_dict(checkpoint.optimizer)
            fits = {*optimizer.param_groups[0]} == group and all(
                tensor.shape in ((), parameter.shape[:1], parameter.shape)
                for parameter, state in optimizer.state.items()
                for tensor in state.values()
            )
            fits &= {name: weight.shape for name, weight in checkpoint.best.items()} in ({}, shapes)
        except (AttributeError, LookupError, RuntimeError, TypeError, ValueError):
            fits = False
        if not fits:
            raise foreign(self.folder / LATEST)
        self.state, self.best = checkpoint.state, checkpoint.best

    def checkpoint(self) -> None:
        """Write a checkpoint of the state between two updates."""
        self.read()
        if self.processes.first:
            checkpoint = Checkpoint(
                self.settings,
                self.state,
                self.model.state_dict(),
                {} if self.finished() else self.update.optimizer.state_dict(),
                self.best,
                self.metrics.read_text(encoding="utf-8"),
                self.batches.bitext.shortlists,
                self.normalize,
                self.finished(),
                self.code,
            )
            write_checkpoint(self.folder, checkpoint)
        self.processes.wait()
        self.read_at = self.saved_at = time.monotonic()

    def finished(self) -> bool:
        """Whether the run has made its last update or exhausted its patience."""
        patience, state = self.optimization.patience, self.state
        exhausted = patience > 0 and state.evaluations_without_improvement >= patience
        return exhausted or state.updates >= self.last

    def run(self, minutes: float = math.inf) -> bool:
        """Update until the run has finished, with records, evaluations and checkpoints on the way.

        Return whether it has finished. After `minutes`, it writes a checkpoint and ends early. The last record and
        evaluation come after that checkpoint, so that a resumed run does not include them.

        Raises StoppedError, after writing a checkpoint, if any of the processes has received a signal to stop, and
        UserError if the development set has no finite NLL at the end.
        """
        state, processes = self.state, self.processes
        shown = state.updates
        bar = Progress(self.label, self.last, "updates", shown) if processes.first else nullcontext()
        with Stop(patient=not processes.alone) as stop, bar as progress, ahead(self.prepare, shown) as prepared:
            self.read_at = self.saved_at = time.monotonic()
            end = self.saved_at + 60 * minutes
            early = False
            while not (early or self.finished()):
                self.advance(*next(prepared))
                figures = self.measure()
                early = self.save(stop.asked, time.monotonic() >= end)
                if early:
                    figures = self.measure(at_end=True) or figures
                if progress is not None and figures is not None:
                    progress.update(state.updates - shown, **figures, **state.scores(best=False))
                    shown = state.updates
        self.check_development_nll()
        return not early

    def advance(self, batch: Batch, words: int) -> None:
        """Make one update; `words` is the number of target words in the whole minibatch."""
        if self.optimization.cooldown:
            self.update.set_learning_rate(scheduled_rate(self.optimization, self.last - self.state.updates))
        self.update.begin(self.state.updates)
        self.pending.append(self.update(batch.to(self.device)))
        self.state.updates += 1
        self.state.interval.words += words

    def measure(self, at_end: bool = False) -> dict[str, float | None] | None:
        """Record and evaluate if they are due after this update; return the figures of a record.

        With `at_end`, when the run ends early, do those that were not due instead.
        """
        updates = self.state.updates
        evaluates = updates % self.optimization.evaluate_every == 0 or updates == self.last
        records = evaluates or updates % UPDATES_A_RECORD == 0
        figures = self.record() if records != at_end else None
        if evaluates != at_end:
            self.evaluate()
        return figures

    def save(self, stopped: bool, over: bool) -> bool:
        """Write a checkpoint when one is due, or when any of the processes is `stopped` or its time is `over`.

        Return whether the run ends early. Raises StoppedError if it is stopped.
        """
        stopped, over, due = self.processes.any(stopped, over, self.checkpoint_due())
        if stopped or over or due or self.finished():  # writing the model, which comes next, may find no space
            self.checkpoint()
        if stopped:
            raise StoppedError(
                f"stopped; {self.folder / LATEST} is written, the same command resumes from it"
                if self.processes.first
                else ""
            )
        return over and not self.finished()

    def prepare(self, number: int) -> tuple[Batch, int]:
        """This process's share of a minibatch, and the number of target words in all of it, ends included."""
        batch = self.batches[number]
        share, words = self.processes.share(batch), int(batch.target_mask.sum())
        if self.device.type == "cuda":
            with torch.cuda.device(self.device):
                share = share.pinned()
        return share, words

    def checkpoint_due(self) -> bool:
        """Whether it is time for a checkpoint, by the clock or by the number of updates."""
        every = self.run_time.checkpoint_every
        by_time = time.monotonic() - self.saved_at >= 60 * self.run_time.checkpoint_minutes
        return by_time or (every > 0 and self.state.updates % every == 0)

    def read(self) -> None:
        """Read the costs and norms of the updates since the last call. Only this waits for the device.

        Raises UserError if too many updates in a row were skipped.
        """
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
        """Count the skipped ones among the latest updates; UserError if there were too many in a row."""
        state = self.state
        for number, norm in enumerate(norms, state.updates - len(norms) + 1):
            if math.isfinite(norm):
                state.skipped_in_a_row = 0
                continue
            state.skipped += 1
            state.skipped_in_a_row += 1
            if self.processes.first:
                warn(f"{self.label}: update {number} skipped, its cost or gradient is not finite")
            if state.skipped_in_a_row > SKIPS_ALLOWED:
                raise UserError(
                    f"{self.label}: more than {SKIPS_ALLOWED} updates in a row were not finite; delete {UNFINISHED} "
                    f"in {self.folder} and start again with a lower learning_rate or initialization_scale"
                )

    def record(self) -> dict[str, float | None]:
        """Append a line about the updates since the last record to the metrics; return its figures."""
        self.read()
        state, interval = self.state, self.state.interval
        finite = [pair for pair in zip(interval.costs, interval.norms, strict=True) if math.isfinite(pair[1])]
        cost, norm = map(fmean, zip(*finite, strict=True)) if finite else (None, None)
        figures = {
            "train_nll": None if cost is None else cost / self.optimization.batch,
            "gradient_norm": norm,
            "words_per_second": rate(interval.words, interval.seconds),
        }
        state.seconds += interval.seconds
        state.target_words += interval.words
        state.interval = Interval()
        self.write_metrics(**figures)
        return figures

    def evaluate(self) -> None:
        """Score the development set; with a patience, keep the best model."""
        state, processes = self.state, self.processes
        sources, targets = (side[processes.rank :: processes.world] for side in self.development)
        share = math.fsum(sentence_nll(self.model, sources, targets, self.device))
        nll = processes.sum(torch.tensor(share, dtype=torch.float64)).item() / len(self.development[0])
        bleu = None if self.bleu is None else self.bleu(self.model, processes)
        now = time.monotonic()
        state.seconds += now - self.read_at
        self.read_at = now
        better = nll < state.best_nll
        if bleu is not None and bleu != state.best_bleu:  # between equal scores, such as 0 at first, the NLL decides
            better = math.isfinite(nll) and bleu > state.best_bleu
        state.development_nll, state.development_bleu = nll, bleu
        state.evaluations_without_improvement += 1
        if better:
            state.best_nll, state.best_updates = nll, state.updates
            if bleu is not None:
                state.best_bleu = bleu
            state.evaluations_without_improvement = 0
            if self.optimization.patience:
                self.best = {name: weight.detach().cpu().clone() for name, weight in self.model.state_dict().items()}
        self.write_metrics(**state.scores(best=False) | {"development_nll": nll if math.isfinite(nll) else None})

    def check_development_nll(self) -> None:
        """Raise UserError if the model that is kept gives the development set an NLL that is not finite."""
        nll = self.state.development_nll
        if not self.best and nll is not None and not math.isfinite(nll):
            raise UserError(
                f"{self.label}: the development NLL after update {self.state.updates} is not finite; remove "
                f"{self.folder} and train again with a lower learning_rate or initialization_scale"
            )

    def write_metrics(self, **figures: float | None) -> None:
        """Append one line to the metrics; only the first process writes."""
        if self.processes.first:
            append_metrics(self.metrics, self.state.updates, self.state.seconds, **figures)

    @property
    def settings_digest(self) -> str:
        """Sixteen hexadecimal digits for the settings and the data, equal for all runs that learn the same."""
        return hashlib.sha256(json.dumps(self.settings).encode()).hexdigest()[:16]

    def seen(self, updates: int) -> dict[str, Any]:
        """The sentence pairs of the training up to an update, and its passes over those that are short enough for it.

        Both include those of the model that it continues, for which other pairs may have been short enough.
        """
        own = (updates - self.first) * self.optimization.batch
        pairs, passes = self.before.pairs, self.before.passes
        return {
            "pairs_seen": None if pairs is None else pairs + own,
            "passes": None if passes is None else passes + own / len(self.batches.pairs),
        }

    def summary(self) -> dict[str, Any]:
        """The figures of this run for Table 2.

        Updates, pairs, passes and hours include those of the model that it continues.
        """
        state = self.state
        best = state.best_updates if self.best else state.updates
        device = device_name(self.device)
        return {
            "variant": self.name,
            "updates": state.updates,
            "updates_best": best,
            "updates_skipped": state.skipped,
            **self.seen(state.updates),
            **{f"{name}_best": count for name, count in self.seen(best).items()},
            "hours": self.before.hours + state.seconds / 3600,
            "torch": torch.__version__,
            "device": device if self.processes.alone else f"{self.processes.world} x {device}",
            "precision": self.optimization.precision,
            "parameters": count_parameters(self.model),
            **state.scores(best=bool(self.best)),
            "words_per_second": rate(state.target_words, state.seconds),
            "seed": self.optimization.seed,
            "settings_digest": self.settings_digest,
        }
