"""Show the progress of every model of an experiment, on whatever machine it is trained.

Everything is read from the metrics that trainings write. The development score is the negative log-likelihood of a
sentence in nats, lower is better, or where a training stops on it, BLEU.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nmt.monitor.forecast import span
from nmt.settings.checks import integer, read_values, text
from nmt.settings.experiment import BUILT, Experiment
from nmt.settings.extends import add_arguments as add_config_arguments
from nmt.settings.extends import read_experiment
from nmt.settings.ownership import last_run
from nmt.settings.variant import Optimization, Variant
from nmt.system.files import UserError
from nmt.training.metrics import Record, ended_early, folders, latest, read_metrics, values

BLEU = "dev. BLEU"  # the column that is left out where no training stops on it
COLUMNS = ("model", "state", "updates", "epochs", "words/s", "dev. NLL", BLEU, "best, at update", "end")
RECENT = 20  # records from which the speed of a training is estimated
# A training is silent after this time, if it is also this many times the longest recent gap between its records.
QUIET_SECONDS, QUIET_GAPS = 300, 5
LONGEST_PAUSE = 86400  # a day, between two updates of the table
EXAMPLES = """\
examples:
  The experiment that ran last:
    %(prog)s
  Those of config/demo.yaml, every ten seconds:
    %(prog)s demo --watch
"""
CLEAR = "\x1b[H\x1b[2J\x1b[3J"


@dataclass(frozen=True)
class Standing:
    """The progress of one training; None for what is not known."""

    label: str
    state: str
    updates: int = 0
    last: int | None = None  # updates at its end; with a patience it may end earlier
    epochs: float | None = None
    words_per_second: float | None = None
    nll: float | None = None
    bleu: float | None = None
    best: tuple[int, float] | None = None
    end: str = ""

    def cells(self) -> list[str]:
        """The cells of COLUMNS."""
        of = f" of {self.last:,}" if self.last else ""
        best = f"{self.best[1]:.2f} at {self.best[0]:,}" if self.best else ""
        updates = f"{self.updates:,}{of}" if self.updates or of else ""
        figures = (self.epochs, ".2f"), (self.words_per_second, ",.0f"), (self.nll, ".2f"), (self.bleu, ".2f")
        numbers = ("" if value is None else format(value, form) for value, form in figures)
        return [self.label, self.state, updates, *numbers, best, self.end]


def standing(experiment: Experiment, variant: Variant, now: float) -> Standing:
    """The progress of the training of `variant` at the time `now`."""
    file = latest(experiment.name, variant.name)
    if file is None:
        before = variant.continues
        return Standing(variant.label, f"after {experiment.variants[before].label}" if before else "not begun")
    written = file.stat().st_mtime
    records = read_metrics(file)
    updates = int(records[-1]["updates"] or 0) if records else 0
    words, nlls = values(records, "words_per_second"), values(records, "development_nll")
    bleus = values(records, "development_bleu")
    finished = file.parent == folders(experiment.name, variant.name)[1]
    early = finished and ended_early(experiment.name, variant.name)
    start = updates_before(experiment, variant)
    last = None if start is None or finished else start + variant.optimization.updates
    state, end = "ended early" if early else "finished", _clock(written)
    if not finished:
        state, end = _pace(records, variant, updates, last, written, now)
    return Standing(
        variant.label,
        state,
        updates,
        last,
        _epochs(experiment, variant.optimization, updates),
        words[-1][1] if words else None,
        nlls[-1][1] if nlls else None,
        bleus[-1][1] if bleus else None,
        max(bleus, key=lambda score: score[1]) if bleus else min(nlls, key=lambda score: score[1], default=None),
        end,
    )


def updates_before(experiment: Experiment, variant: Variant) -> int | None:
    """The updates of the model that a variant continues; 0 if it continues none, None if they are not known."""
    if variant.continues is None:
        return 0
    return _number(folders(experiment.name, variant.continues)[1] / "summary.json", "updates_best", 0)


def _number(file: Path, key: str, minimum: int) -> int | None:
    """A whole number in a JSON file; None if it is missing or damaged."""
    try:
        return int(read_values(file, **{key: integer(minimum)})[key])
    except UserError:
        return None


def _epochs(experiment: Experiment, optimization: Optimization, updates: int) -> float | None:
    """Epochs as in Table 2: pairs seen, for each pair of the training text; None if the binarized text is missing."""
    pairs = _number(Path("data") / experiment.name / "binarized/meta.json", "pairs", 1)
    return None if pairs is None else updates * optimization.batch / pairs


def _pace(
    records: list[Record], variant: Variant, updates: int, last: int | None, written: float, now: float
) -> tuple[str, str]:
    """The state of a training under way, and when it will end at its recent speed."""
    recent = [(int(one["updates"] or 0), float(one["seconds"] or 0)) for one in records[-RECENT:]]
    gaps = [later[1] - earlier[1] for earlier, later in zip([(0, 0.0), *recent], recent, strict=False)]
    patient = max(QUIET_SECONDS, QUIET_GAPS * max(gaps[1:] or gaps, default=0))
    silent = now - written > patient
    state = f"silent for {span(now - written)}" if silent else "running"
    done = recent[-1][0] - recent[0][0] if recent else 0
    if last is None or not done:
        return state, ""
    left = max(0, last - updates) * (recent[-1][1] - recent[0][1]) / done
    at_latest = "at the latest " if variant.optimization.patience else ""
    return state, at_latest + (f"{span(left)} of work left" if silent else _clock(max(now, written + left)))


def _clock(moment: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))
    except (OSError, OverflowError, ValueError):
        return "unknown"


def table(standings: list[Standing]) -> str:
    """The table of `standings`, with text aligned to the left and numbers to the right."""
    rows = [list(COLUMNS), *(one.cells() for one in standings)]
    if all(one.bleu is None for one in standings):
        for row in rows:
            del row[COLUMNS.index(BLEU)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if index in (0, 1, len(row) - 1) else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def phrase_based(experiment: Experiment) -> str:
    """Which phrase-based system the experiment runs and, once it is tuned, its version; "" for none."""
    system = experiment.phrase_based
    if system is None or not experiment.runs_phrase_based:
        return ""
    said = f"\n{system.label}"
    if system.system == "moses":
        said += f" in {system.bin or f'{BUILT}/bin'}"
    with suppress(UserError):
        tuning = Path("data") / experiment.name / "phrase_based/tuning.json"
        said += f": {read_values(tuning, system=text())['system']}"
    return f"{said}\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add_config_arguments(parser, "that of the experiment that ran last")
    parser.add_argument(
        "--watch",
        nargs="?",
        const=10.0,
        type=float,
        metavar="SECONDS",
        help="repeat every this many seconds (default: 10), until all models are finished or Ctrl-C",
    )


def run(arguments: argparse.Namespace) -> None:
    if arguments.watch is not None and not 0 < arguments.watch <= LONGEST_PAUSE:
        raise UserError(f"--watch {arguments.watch:g}: must be more than 0 and at most {LONGEST_PAUSE} seconds")
    experiment = read_experiment(arguments.configs or last_run())
    while True:
        now = time.time()
        standings = [standing(experiment, variant, now) for variant in experiment.variants.values()]
        if arguments.watch is not None:
            sys.stdout.write(CLEAR if sys.stdout.isatty() else "\n")
            sys.stdout.write(f"{experiment.name}, {_clock(now)}\n")
        sys.stdout.write(table(standings) + phrase_based(experiment))
        sys.stdout.flush()
        if arguments.watch is None or all(one.state == "finished" for one in standings):
            return
        time.sleep(arguments.watch)
