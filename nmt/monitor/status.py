"""Show the progress of every model of an experiment, on whatever machine it is trained.

Everything is read from the metrics that trainings write. The development score is the negative log-likelihood of a
sentence in nats, lower is better, or where a training stops on it, BLEU.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import suppress
from pathlib import Path

from nmt.monitor.counts import count, last_update, pairs_before, updates_before
from nmt.monitor.forecast import span
from nmt.settings.checks import read_values, text
from nmt.settings.experiment import BUILT, Experiment
from nmt.settings.extends import add_arguments as add_config_arguments
from nmt.settings.extends import read_experiment
from nmt.settings.ownership import last_run, recorded_runs
from nmt.settings.variant import Variant
from nmt.system.errors import UserError
from nmt.training.metrics import Record, ended_early, folders, latest, read_metrics, values

FINISHED = "finished"
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


def row(experiment: Experiment, variant: Variant, now: float) -> list[str]:
    """The cells of COLUMNS for the training of `variant` at the time `now`; "" for what is not known."""
    file = latest(experiment.name, variant.name)
    if file is None:
        before = variant.continues
        state = f"after {experiment.variants[before].label}" if before else "not begun"
        if any(folders(experiment.name, variant.name)[0].glob("*.pt")):
            state = "only a checkpoint"  # Snakemake has deleted the model
        return [variant.label, state] + [""] * (len(COLUMNS) - 2)
    written = file.stat().st_mtime
    records = read_metrics(file)
    updates = last_update(records)
    epochs = _epochs(experiment, variant, updates)
    words, nlls, bleus = (values(records, name) for name in ("words_per_second", "development_nll", "development_bleu"))
    best = best_score(records)
    of = ""
    if file.parent == folders(experiment.name, variant.name)[1]:
        state, end = "ended early" if ended_early(experiment.name, variant.name) else FINISHED, _clock(written)
    else:
        start = updates_before(experiment, variant)
        last = None if start is None else start + variant.optimization.updates  # with a patience it may end earlier
        of = f" of {last:,}" if last else ""
        state, end = _pace(records, variant, updates, last, written, now)
    return [
        variant.label,
        state,
        f"{updates:,}{of}" if updates or of else "",
        "" if epochs is None else f"{epochs:.2f}",
        f"{words[-1][1]:,.0f}" if words else "",
        f"{nlls[-1][1]:.2f}" if nlls else "",
        f"{bleus[-1][1]:.2f}" if bleus else "",
        f"{best[1]:.2f} at {best[0]:,}" if best else "",
        end,
    ]


def best_score(records: list[Record]) -> tuple[int, float] | None:
    """(updates, score) of the best evaluation, as in training: BLEU decides where it is measured, and then the NLL."""
    scores = [
        (record.get("development_bleu"), nll, int(record["updates"] or 0))
        for record in records
        if (nll := record.get("development_nll")) is not None
    ]
    measured = [score for score in scores if score[0] is not None] or scores
    bleu, nll, updates = max(measured, key=lambda score: (score[0] or 0, -score[1]), default=(None, None, 0))
    return None if nll is None else (updates, nll if bleu is None else bleu)


def _epochs(experiment: Experiment, variant: Variant, updates: int) -> float | None:
    """Epochs as in Table 2: pairs seen, for each pair of the training text; None if that is not known."""
    pairs = count(Path("data") / experiment.name / "binarized/meta.json", "pairs", 1)
    start, seen = updates_before(experiment, variant), pairs_before(experiment, variant)
    if pairs is None or start is None or seen is None:
        return None
    return (seen + (updates - start) * variant.optimization.batch) / pairs


def _pace(
    records: list[Record], variant: Variant, updates: int, last: int | None, written: float, now: float
) -> tuple[str, str]:
    """The state of a training under way, and when it will end at its recent speed."""
    recent = [(int(one["updates"] or 0), float(one["seconds"] or 0)) for one in records[-RECENT:]]
    gaps = [later[1] - earlier[1] for earlier, later in zip([(0, 0.0), *recent], recent, strict=False)]
    patient = max(QUIET_SECONDS, QUIET_GAPS * max(gaps[1:] or gaps, default=0))
    if written - now > patient:
        return "its clock is ahead", ""
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


def table(rows: list[list[str]]) -> str:
    """The table of `rows`, with text aligned to the left and numbers to the right."""
    columns = [column for column in zip(COLUMNS, *rows, strict=True) if column[0] != BLEU or any(column[1:])]
    aligned = []
    for index, column in enumerate(columns):
        align = str.ljust if index in (0, 1, len(columns) - 1) else str.rjust
        aligned.append([align(cell, max(map(len, column))) for cell in column])
    return "".join("  ".join(cells).rstrip() + "\n" for cells in zip(*aligned, strict=True))


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
    last = None if arguments.configs else last_run()
    experiment = read_experiment(*last) if last else read_experiment(arguments.configs)
    if not arguments.configs:
        ran = "that ran here has its file" if recorded_runs() else "ran here"
        why = "the last that ran here and has its file" if last else f"the default, as no experiment {ran}"
        print(f"{experiment.name}: {why}", file=sys.stderr)
    while True:
        now = time.time()
        rows = [row(experiment, variant, now) for variant in experiment.variants.values()]
        if arguments.watch is not None:
            sys.stdout.write(CLEAR if sys.stdout.isatty() else "\n")
            sys.stdout.write(f"{experiment.name}, {_clock(now)}\n")
        sys.stdout.write(table(rows) + phrase_based(experiment))
        sys.stdout.flush()
        if arguments.watch is None or all(state == FINISHED for _, state, *_ in rows):
            return
        time.sleep(arguments.watch)
