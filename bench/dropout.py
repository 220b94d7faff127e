"""Measure the effect of dropout: the development NLL of the trained models of some experiments, beside how often each
read the training text. For a model with several seeds, the NLL is the mean over them, with its standard deviation.

    python -m bench.dropout config/mine.yaml ...

for experiments whose models differ in `dropout`; run it in the folder that holds their `data`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import fmean, stdev

import pandas as pd

from bench.table import one_line_mistakes, parse, write
from nmt.settings.checks import finite, integer, read_values
from nmt.settings.extends import read_experiment
from nmt.system.options import Output
from nmt.system.text import read_lines


def rows(file: str) -> list[dict[str, object]]:
    """A row for each model of the experiment in `file`, in nats a sentence."""
    experiment = read_experiment([file])
    data = Path("data") / experiment.name
    pairs = sum(1 for _ in read_lines(data / f"selected/train.{experiment.languages.source}"))
    found: list[dict[str, object]] = []
    for name, variant in experiment.models.items():
        seeds = experiment.trainings(name)
        expected = {"development_nll": finite(), "updates": integer(1), "pairs_seen": integer(1)}
        summaries = [read_values(data / f"models/{seed}/summary.json", **expected) for seed in seeds]
        nll = [summary["development_nll"] for summary in summaries]
        found.append(
            {
                "experiment": experiment.name,
                "model": variant.label,
                "pairs": pairs,
                "updates": summaries[0]["updates"],
                "times_read": summaries[0]["pairs_seen"] / pairs,
                "dropout": variant.optimization.dropout,
                "seeds": len(seeds),
                "development_nll": fmean(nll),
                "deviation": stdev(nll) if len(nll) > 1 else None,
            }
        )
    return found


@one_line_mistakes("dropout")
def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.dropout", description=__doc__)
    parser.add_argument("experiments", nargs="+", metavar="FILE")
    parser.add_argument("--output", type=Output, help="CSV file (default: the table is only printed)")
    arguments = parse(parser)
    found = [row for file in arguments.experiments for row in rows(file)]
    write(pd.DataFrame(found), arguments.output)


if __name__ == "__main__":
    main()
