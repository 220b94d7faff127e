"""Compare one of our variants with JoeyNMT's recurrent model, trained on the same minibatches for as many updates.

The variant must have been trained by the workflow, and be of a kind that JoeyNMT also has. JoeyNMT's model is trained
with each of its seeds, several at a time. Both translate the experiment's test sets, with the paper's search and with
one that prefers longer translations: ours divides the log-probability by the length, JoeyNMT applies its length penalty
with exponent 1. The experiment's minimum length applies only to ours. The differences in BLEU are tested by paired
bootstrap, over sentences and seeds. The translations stay in data/EXPERIMENT/witness.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd

from bench.command import run
from bench.table import make_parser, one_line_mistakes, parse, write
from nmt.evaluation.bootstrap import compare
from nmt.evaluation.sentences import read_parallel
from nmt.settings.checks import unknown
from nmt.settings.experiment import Experiment
from nmt.settings.extends import read_experiment
from nmt.settings.variant import Variant
from nmt.system.errors import UserError
from nmt.system.text import read_json

SEARCHES = {"plain": ((), -1.0), "normalized": (("--normalize",), 1.0)}  # our options, JoeyNMT's exponent
RESAMPLES = 1000
Outputs = dict[tuple[str, str], Path]  # the translations of each test set by each search
# What both can train.
ARCHITECTURE = {"attention": "additive", "unit": "gated", "score_previous": False, "contextualization": None}
OPTIMIZATION = {"loss": "sum", "patience": 0, "dropout": 0.0}


def choose(experiment: Experiment, name: str) -> list[Variant]:
    """The variant of this name, with each seed. Raises UserError if JoeyNMT's training cannot be like its own."""
    if name not in experiment.variants:
        raise unknown(name, experiment.variants, "--variant", "variant")
    variant = experiment.variants[name]
    advice = "name another variant or experiment"
    for section, matched in ((variant.architecture, ARCHITECTURE), (variant.optimization, OPTIMIZATION)):
        for key, value in matched.items():
            if getattr(section, key) != value:
                raise UserError(f"--variant: {name} has {key}: {getattr(section, key)}, JoeyNMT {value}; {advice}")
    if variant.continues is not None:
        raise UserError(f"--variant: {name} continues {variant.continues}, but JoeyNMT starts anew; {advice}")
    if experiment.subwords is not None:
        raise UserError(f"--config: {experiment.name} has subwords, but JoeyNMT is trained on words; {advice}")
    return [experiment.variants[training] for training in experiment.trainings(name)]


def ours(experiment: Experiment, variant: Variant, data: Path, outputs: Outputs) -> int:
    """Translate with our model; returns its number of parameters."""
    folder = data / "models" / variant.name
    for (name, search), output in outputs.items():
        command = [sys.executable, "-m", "nmt", "translate", "--model", folder, "--tokenized", "--threads", "1"]
        command += ["--source", data / "tokenized" / f"{name}.{experiment.languages.source}", "--output", output]
        command += ["--beam", experiment.translate.beam, *SEARCHES[search][0]]
        command += ["--minimum-length-ratio", experiment.translate.minimum_length_ratio]
        run(command)
    parameters: int = read_json(folder / "summary.json")["parameters"]
    return parameters


def theirs(experiment: Experiment, variant: Variant, data: Path, outputs: Outputs, python: str) -> int:
    """Train JoeyNMT's model and translate with it; returns its number of parameters."""
    source, target = experiment.languages.source, experiment.languages.target
    job = {
        "variant": variant.to_json(),
        "data": str(data / "binarized"),
        "shortlists": [str(data / "shortlist" / f"{language}.tsv") for language in (source, target)],
        "beam": experiment.translate.beam,
        "translations": [
            (str(data / "tokenized" / f"{name}.{source}"), SEARCHES[search][1], str(output))
            for (name, search), output in outputs.items()
        ],
    }
    parameters: int = json.loads(run([python, "-m", "bench.joey", json.dumps(job)]))["parameters"]
    return parameters


def rows(
    experiment: Experiment, label: str, data: Path, ours: Sequence[Outputs], theirs: Sequence[Outputs]
) -> Iterator[dict[str, object]]:
    """The comparison of each test set and search; each system has translations for each seed."""
    for name, search in ours[0]:
        reference = data / "tokenized" / f"{name}.{experiment.languages.target}"
        paths = [str(outputs[name, search]) for outputs in (*ours, *theirs)]
        references, *lines = read_parallel(str(reference), *paths)
        _, (found,) = compare(lines[len(ours) :], [lines[: len(ours)]], references, RESAMPLES, experiment.seed)
        row = {"variant": label, "set": name, "search": search, "sentences": len(references), "seeds": len(ours)}
        yield row | found._asdict()


@one_line_mistakes("witness")
def main() -> None:
    parser = make_parser("witness", __doc__)
    parser.add_argument("--config", default="config/open.yaml", help="the experiment's file (default: %(default)s)")
    parser.add_argument("--variant", default="RNNsearch-50", help="the variant (default: %(default)s)")
    parser.add_argument(
        "--python", default=".venv-peers/bin/python", help="interpreter of JoeyNMT (default: %(default)s)"
    )
    arguments = parse(parser)
    witness(arguments)


def witness(arguments: argparse.Namespace) -> None:
    """Make the table of comparisons. Raises UserError."""
    experiment = read_experiment([arguments.config])
    variants = choose(experiment, arguments.variant)
    data = Path("data") / experiment.name
    summaries = [data / "models" / variant.name / "summary.json" for variant in variants]
    for path, advice in (
        (Path(arguments.python), "no such interpreter; make .venv-peers/made makes one"),
        *((summary, "no such model; train it with the workflow first") for summary in summaries),
    ):
        if not path.exists():
            raise UserError(f"{path}: {advice}")
    folder = data / "witness"
    folder.mkdir(exist_ok=True)

    def translated(variant: Variant) -> tuple[Outputs, Outputs, dict[str, int]]:
        """The translations of our model and of JoeyNMT's, and their numbers of parameters."""
        our, their = (
            {
                (name, search): folder / f"{system}.{variant.name}.{name}.{search}.txt"
                for name in experiment.corpora.test
                for search in SEARCHES
            }
            for system in ("ours", "JoeyNMT")
        )
        parameters = ours(experiment, variant, data, our)
        baseline = theirs(experiment, variant, data, their, arguments.python)
        return our, their, {"parameters": parameters, "baseline_parameters": baseline}

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        *outputs, parameters = zip(*pool.map(translated, variants), strict=True)
    table = pd.DataFrame(rows(experiment, variants[0].label, data, *outputs))
    write(table.assign(**parameters[0]), arguments.output)


if __name__ == "__main__":
    main()
