"""Compare training with bfloat16 products to training in float32: two models on real text that differ in nothing else.

Writes and draws the training cost of every 50 updates and the development cost wherever it is scored, in nats a
sentence.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from bench.command import run
from bench.table import make_parser, one_line_mistakes, parse
from nmt.corpora.binarize import Bitext
from nmt.corpora.shortlist import Shortlist
from nmt.report.drawing import save, style
from nmt.settings.variant import Variant
from nmt.system.errors import UserError

PRECISIONS = ("float32", "bf16")
SIZES = {"output_rank": None, "embedding": 128, "hidden": 192, "alignment": 128, "maxout": 96, "evaluate_every": 200}
LEARNING = {"initialization_scale": 0.1, "attention_scale": 0.1, "optimizer": "adam", "learning_rate": 0.002}


def course(data: Path, precision: str, updates: int, threads: int) -> pd.DataFrame:
    """Train on the data of the experiment in `data`, with the layer sizes of config/open.yaml; return the metrics.

    Raises UserError if no experiment has made its data there.
    """
    settings = {"name": precision, "precision": precision, "updates": updates, **SIZES, **LEARNING}
    variant = Variant.build(settings, "bench.precision")
    shortlists = sides(data)
    languages = [path.stem for path in shortlists]
    with tempfile.TemporaryDirectory() as folder:
        command: list[object] = [sys.executable, "-m", "nmt", "train", "--settings", variant.to_json()]
        command += ["--threads", threads]
        command += ["--data", data / "binarized", "--shortlists", *shortlists, "--languages", *languages]
        command += ["--development", *(data / "tokenized" / f"development.{language}" for language in languages)]
        command += ["--checkpoints", f"{folder}/checkpoints", "--output", f"{folder}/model"]
        run(command)
        lines = Path(folder, "model", "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    columns = ["updates", "train_nll", "development_nll"]
    return pd.DataFrame([json.loads(line) for line in lines])[columns].assign(precision=precision)


def sides(data: Path) -> list[Path]:
    """The shortlist files of the data's two languages, source first, as the training text recognizes them."""
    found = {Shortlist.read(path).digest(): path for path in sorted((data / "shortlist").glob("*.tsv"))}
    if len(found) != 2:
        raise UserError(f"{data}: no shortlists of two languages; run the experiment, or name its folder in data/")
    source = found.get(Bitext(data / "binarized").shortlists["source"])
    return sorted(found.values(), key=lambda path: path != source)


def draw(table: pd.DataFrame, outputs: list[str]) -> None:
    """Draw the costs of both models over the updates."""
    with style():
        figure, axes = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
        for precision, line in zip(PRECISIONS, ("-", "--"), strict=True):
            rows = table[table.precision == precision]
            for column, colour in (("train_nll", "C0"), ("development_nll", "C1")):
                points = rows[rows[column].notna()]
                side = "training" if column == "train_nll" else "development"
                axes.plot(points.updates, points[column], line, color=colour, label=f"{side}, {precision}", lw=1.2)
        axes.set(xlabel="updates", ylabel="negative log-likelihood, nats a sentence")
        axes.legend(frameon=False)
        save(figure, outputs)
        plt.close(figure)


@one_line_mistakes("precision")
def main() -> None:
    parser = make_parser("precision", __doc__)
    parser.add_argument(
        "--data", type=Path, default=Path("data/open"), help="data folder of an experiment (default: %(default)s)"
    )
    parser.add_argument("--updates", type=int, default=1000, help="updates of each model (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads (default: %(default)s)")
    arguments = parse(parser)
    table = pd.concat(
        [course(arguments.data, precision, arguments.updates, arguments.threads) for precision in PRECISIONS]
    )
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(arguments.output, index=False, float_format="%.4f", lineterminator="\n")
    draw(table, [str(arguments.output.with_suffix(ending)) for ending in (".png", ".svg")])


if __name__ == "__main__":
    main()
