"""What a complete run prints at its end: BLEU, the page, the models, and the command that translates.

Standard library only: the workflow imports this module at every start.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

from nmt.settings.experiment import Experiment
from nmt.system.files import read_json


def ending(experiment: Experiment) -> list[str]:
    """The lines. The command names the best model on the first test set, or the first model where no BLEU is known."""
    [first, *_], models = experiment.corpora.test, f"data/{experiment.name}/models"
    files = {
        system: Path("data") / experiment.name / "evaluation" / system / f"{first}.json"
        for system in experiment.systems
    }
    scores = {system: float(read_json(file)["all"]["bleu"]) for system, file in files.items() if file.is_file()}
    best = max(experiment.variants, key=lambda name: scores.get(name, 0.0))
    several = len(experiment.variants) > 1
    of_label: dict[str, list[float]] = {}  # for a model with several seeds, their mean
    for system, score in scores.items():
        of_label.setdefault(experiment.systems[system], []).append(score)
    said = ", ".join(f"{label} {fmean(found):.1f}" for label, found in of_label.items())
    tokenized = " --tokenized" if experiment.tokenized else ""
    return [
        *([f"BLEU on {first}: {said}."] if scores else []),
        f"The page with all results: {experiment.results}/index.html",
        f"The models: {models}" if several else f"The model: {models}/{best}",
        f"To translate: python -m nmt translate --model {models}/{best}{tokenized} < FILE",
    ]
