"""Train one variant, Section 4.2 and Appendix B, and go on from its last checkpoint where there is one.

The cost is the summed negative log-likelihood of a minibatch, its gradient is scaled down to norm `clip_norm`, and the
development set is scored at intervals. The model at the end is the last one or, with a patience, the best one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nmt.corpora.binarize import Bitext
from nmt.corpora.shortlist import Shortlist
from nmt.device import choose_device, device_name
from nmt.files import UserError, atomic, read_json, warn, write_json
from nmt.model.initialization import count_parameters, initialize
from nmt.model.network import Network, load_with_shortlists, save_model
from nmt.progress import Progress
from nmt.training.batches import Batches
from nmt.training.checkpoint import Checkpoint, State, read_checkpoint, write_checkpoint
from nmt.training.nll import Sentences, read_ids, sentence_nll
from nmt.training.optimizer import make_optimizer
from nmt.variant import Variant

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
        hours_before: float,
    ) -> None:
        self.hours_before = hours_before
        self.variant, self.batches, self.development, self.folder = variant, batches, development, folder
        self.device = choose_device(variant.device)
        self.model = model.to(self.device)
        self.optimizer = make_optimizer(self.model, variant)
        self.start = model.updates
        self.state = State(updates=model.updates)
        self.best: dict[str, Tensor] = {}
        self.settings = {**variant.what_is_learned(), "data": _fingerprint(batches.bitext.folder)}
        self.metrics = folder / "metrics.jsonl"

    def resume(self) -> None:
        """Go on from the last checkpoint, if there is one."""
        checkpoint = read_checkpoint(self.folder, self.settings)
        self.folder.mkdir(parents=True, exist_ok=True)
        if checkpoint is not None:
            self.model.load_state_dict(checkpoint.model)
            self.optimizer.load_state_dict(checkpoint.optimizer)
            self.state, self.best = checkpoint.state, checkpoint.best
        with open(self.metrics, "ab") as file:
            file.truncate(self.state.metrics_bytes)

    def checkpoint(self) -> None:
        """Write a checkpoint of the state between two updates."""
        self.state.metrics_bytes = self.metrics.stat().st_size
        checkpoint = Checkpoint(
            self.settings, self.state, self.model.state_dict(), self.optimizer.state_dict(), self.best
        )
        write_checkpoint(self.folder, checkpoint)

    def finished(self) -> bool:
        """Whether the cap is reached, or the patience is at its end."""
        variant, state = self.variant, self.state
        waited = variant.patience and state.evaluations_without_improvement >= variant.patience
        return bool(waited) or state.updates >= self.start + variant.updates

    def run(self) -> None:
        """Update until finished, with records, evaluations and checkpoints on the way."""
        variant, state = self.variant, self.state
        last = self.start + variant.updates
        saved = time.monotonic()
        with Progress(variant.label, last, "updates", state.updates) as progress:
            while not self.finished():
                before = state.updates
                figures = self.updates_until_record(last)
                self.record(**figures)
                if state.updates % variant.evaluate_every == 0 or state.updates == last:
                    self.evaluate()
                progress.update(state.updates - before, **figures, development_nll=state.development_nll)
                if time.monotonic() - saved >= 60 * variant.checkpoint_minutes:
                    self.checkpoint()
                    saved = time.monotonic()

    def updates_until_record(self, last: int) -> dict[str, float]:
        """Update until the next record or evaluation is due, and return what is recorded of these updates."""
        variant, state = self.variant, self.state
        due = min(UPDATES_A_RECORD - state.updates % UPDATES_A_RECORD, last - state.updates)
        due = min(due, variant.evaluate_every - state.updates % variant.evaluate_every)
        begun = time.monotonic()
        costs, norms, words = zip(*(self.update() for _ in range(due)), strict=True)
        train_nll = torch.stack(costs).mean().item() / variant.batch
        gradient_norm = torch.stack(norms).mean().item()
        seconds = time.monotonic() - begun
        state.seconds += seconds
        state.target_words += sum(words)
        return {"train_nll": train_nll, "gradient_norm": gradient_norm, "words_per_second": sum(words) / seconds}

    def update(self) -> tuple[Tensor, Tensor, int]:
        """One update: the summed cost, the gradient's norm before clipping, and the batch's target words."""
        variant, state = self.variant, self.state
        batch = self.batches[state.updates].to(self.device)
        self.optimizer.zero_grad(set_to_none=True)
        with self.precision():
            cost = self.model.summed_nll(*batch)
        (cost / variant.batch if variant.loss == "mean" else cost).backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), variant.clip_norm)
        state.updates += 1
        if torch.isfinite(norm):
            self.optimizer.step()
            state.skipped_in_a_row = 0
        else:
            state.skipped_in_a_row += 1
            warn(f"{variant.label}: update {state.updates} skipped, its cost or gradient is not finite")
            if state.skipped_in_a_row > SKIPS_ALLOWED:
                raise UserError(
                    f"{variant.label}: {SKIPS_ALLOWED} updates in a row were not finite; lower learning_rate or "
                    f"initialization_scale (the last good state is in {self.folder})"
                )
        return cost.detach(), norm, int(batch.target_mask.sum())

    def precision(self) -> AbstractContextManager[Any]:
        """Matrix products in bfloat16 where the setting says so; weights and sums stay float32."""
        if self.variant.precision == "bfloat16":
            return torch.autocast(self.device.type, torch.bfloat16)
        return nullcontext()

    def evaluate(self) -> None:
        """Score the development set, and keep the best model where a patience asks for it."""
        state = self.state
        started = time.monotonic()
        nll = float(np.mean(sentence_nll(self.model, *self.development, self.device)))
        state.seconds += time.monotonic() - started
        state.development_nll = nll
        state.evaluations_without_improvement += 1
        if nll < state.best_nll:
            state.best_nll, state.best_updates = nll, state.updates
            state.evaluations_without_improvement = 0
            if self.variant.patience:
                self.best = {name: weight.detach().cpu().clone() for name, weight in self.model.state_dict().items()}
        self.record(development_nll=nll)

    def record(self, **figures: float) -> None:
        """Add one line to the metrics."""
        line = {"updates": self.state.updates, "seconds": round(self.state.seconds, 3), **figures}
        with open(self.metrics, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def summary(self) -> dict[str, Any]:
        """What Table 2 shows of this training. Updates, epochs and hours count those of the model it continues, too."""
        state = self.state
        best = state.best_updates if self.best else state.updates
        return {
            "variant": self.variant.name,
            "updates": state.updates,
            "updates_best": best,
            "epochs": state.updates / self.batches.epoch,
            "hours": self.hours_before + state.seconds / 3600,
            "device": device_name(self.device),
            "precision": self.variant.precision,
            "parameters": count_parameters(self.model),
            "development_nll": state.best_nll if self.best else state.development_nll,
            "words_per_second": state.target_words / state.seconds,
            "seed": self.variant.seed,
            "settings_digest": hashlib.sha256(json.dumps(self.settings).encode()).hexdigest()[:16],
        }


def _fingerprint(folder: Path) -> str:
    """A digest of the binarized text, so that a checkpoint is never taken for one of other data."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--settings", required=True, metavar="JSON", help="settings of the variant")
    parser.add_argument("--data", required=True, type=Path, help="folder of the binarized training text")
    parser.add_argument("--development", required=True, nargs=2, metavar=("SOURCE", "TARGET"), help="tokenized text")
    parser.add_argument("--shortlists", required=True, nargs=2, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--checkpoints", required=True, type=Path, help="folder that a later run goes on from")
    parser.add_argument(
        "--initial", nargs=2, metavar=("MODEL", "SUMMARY"), help="to go on from, for a variant that continues another"
    )
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="CPU threads (all)")
    parser.add_argument("--model", required=True, help="where the trained model goes")
    parser.add_argument("--summary", required=True, help="where the figures of Table 2 go, as JSON")
    parser.add_argument("--metrics", required=True, help="where the course of the training goes, as JSON lines")


def run(arguments: argparse.Namespace) -> None:
    torch.set_num_threads(arguments.threads)
    variant = Variant.from_json(arguments.settings)
    shortlists = [Shortlist.read(path) for path in arguments.shortlists]
    batches = Batches(Bitext(arguments.data), variant.maximum_length, variant.batch, variant.window)
    development = read_ids(arguments.development, shortlists)
    if (variant.continues is None) != (arguments.initial is None):
        raise UserError("--initial: needed by a variant that continues another, and by no other")
    hours_before = 0.0
    if arguments.initial is None:
        model = Network(variant, len(shortlists[0]), len(shortlists[1]))
        initialize(model, variant.seed)
    else:
        earlier, *_ = load_with_shortlists(arguments.initial[0], arguments.shortlists, torch.device("cpu"))
        hours_before = read_json(arguments.initial[1])["hours"]
        model = Network(variant, *earlier.symbols)
        model.load_state_dict(earlier.state_dict())
        model.updates = earlier.updates

    training = Training(variant, model, batches, development, arguments.checkpoints, hours_before)
    training.resume()
    training.run()
    summary = training.summary()
    with atomic(arguments.metrics) as partial:
        shutil.copyfile(training.metrics, partial)
    write_json(arguments.summary, summary)
    if training.best:
        model.load_state_dict(training.best)
    model.updates = summary["updates_best"]
    save_model(model, arguments.model)
    shutil.rmtree(arguments.checkpoints)
