"""Measure how many sentences per second beam search translates with the paper's RNNsearch, beside a plain version.

Sources and translations have 20 words, EOS counted; the models have random weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pandas as pd
import torch

from bench.eager import Eager, randomized
from bench.machine import HEAP_KEPT, PAPER, SYMBOLS, layer_sizes, name, now
from bench.table import make_parser, one_line_mistakes, parse, write
from bench.turns import Figures, medians
from nmt.corpora.shortlist import EOS
from nmt.model.network import Network
from nmt.search.beam import BeamSettings, search
from nmt.settings.variant import Architecture
from nmt.system.device import choose_device, keep_memory

LENGTH = 20
BEAM = 12
BATCHES = (1, 16, 64)
PLAIN = "eager"
CONTENDERS = ((PLAIN, "float32"), (f"{PLAIN}{HEAP_KEPT}", "float32"), ("ours", "float32"), ("ours", "bf16"))


def prepare(
    implementation: str,
    device_name: str,
    batch: int,
    precision: str = "float32",
    architecture: Architecture = PAPER,
    symbols: int = SYMBOLS,
) -> Callable[[], Figures]:
    """A function that measures this implementation once: sentences per second."""
    device = torch.device(device_name)
    if implementation != PLAIN:
        keep_memory()
    generator = torch.Generator().manual_seed(1)
    sources = torch.randint(2, symbols, (batch, LENGTH - 1), generator=generator)
    ours = implementation == "ours"
    model = Network(architecture, symbols, symbols) if ours else Eager(symbols, *layer_sizes(architecture))
    model = randomized(model.to(device).eval())
    if isinstance(model, Network):
        model.decoder.readout.b_o.data[EOS] = 100  # every translation ends as soon as it is allowed to
        model.freeze(precision)
    ids = torch.nn.functional.pad(sources, (0, 1), value=EOS).to(device)

    def turn() -> Figures:
        begun = now(device)
        if isinstance(model, Network):
            settings = BeamSettings(BEAM, minimum_length_ratio=(LENGTH - 0.5) / LENGTH)
            found = search(model, sources.tolist(), settings)
            assert all(len(one.words) == LENGTH - 1 for (one,) in found)
        else:
            model.beam(ids, torch.ones_like(ids, dtype=torch.bool), BEAM, LENGTH)
        return {"sentences_per_second": batch / (now(device) - begun)}

    return turn


@one_line_mistakes("decode")
def main() -> None:
    parser = make_parser("decode", __doc__, rounds=7, contenders=(one for one, _ in CONTENDERS))
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"), help="where to compute (auto)")
    arguments = parse(parser)
    device = choose_device(arguments.device)
    rows = []
    for batch in BATCHES:
        jobs = [
            {"implementation": one, "precision": precision, "device_name": device.type, "batch": batch}
            for one, precision in CONTENDERS
            if one in arguments.only and (device.type == "cpu" or not one.endswith(HEAP_KEPT))
        ]
        results = [figures["sentences_per_second"] for figures in medians("bench.decode", jobs, arguments.rounds, 2)]
        plain = results[0] if PLAIN in arguments.only else math.nan
        rows += [
            {
                "device": name(device),
                "implementation": job["implementation"],
                "precision": job["precision"],
                "beam": BEAM,
                "batch": batch,
                "sentences_per_second": rate,
                "ratio_to_eager": rate / plain,
            }
            for job, rate in zip(jobs, results, strict=True)
        ]
    write(pd.DataFrame(rows), arguments.output)


if __name__ == "__main__":
    main()
