"""A toy language, whose target is the source reversed and in other words, and how to train on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from nmt.corpora.binarize import binarize
from nmt.corpora.shortlist import Shortlist
from nmt.settings.variant import Variant

SIDES = ("source", "target")


def make_toy(folder: Path) -> None:
    """Write training text, binarized, development text and shortlists to `folder`."""
    random = np.random.default_rng(5)
    for name, count in (("train", 2000), ("development", 60)):
        sentences = [random.choice(8, random.integers(1, 7)) for _ in range(count)]
        for side, word, step in (("source", "s", 1), ("target", "t", -1)):
            lines = [" ".join(f"{word}{i}" for i in sentence[::step]) for sentence in sentences]
            (folder / f"{name}.{side}").write_text("".join(line + "\n" for line in lines))
    shortlists = [Shortlist(("<eos>", "<unk>", *(f"{word}{i}" for i in range(8))), (1,) * 10) for word in "st"]
    for side, shortlist in zip(SIDES, shortlists, strict=True):
        shortlist.write(folder / f"shortlist.{side}")
    binarize([folder / f"train.{side}" for side in SIDES], shortlists, 1, folder / "binarized")


def tiny_variant(**settings: Any) -> Variant:
    """A variant with a different size for every layer, so that confused sizes are noticed."""
    sizes = {"embedding": 5, "hidden": 6, "alignment": 7, "maxout": 3, "output_rank": None}
    scales = {"initialization_scale": 0.5, "attention_scale": 0.5}
    return Variant.build({"name": "tiny", "updates": 30, **sizes, **scales, **settings}, "tiny")


def arguments(toy: Path, output: Path, **settings: Any) -> list[str]:
    """The command that trains a tiny variant to `output`/model, with checkpoints in `output`/checkpoints."""
    variant = tiny_variant(**{"batch": 20, "sort_batches": 4, "evaluate_every": 10, "device": "cpu", **settings})
    flags = ["--settings", variant.to_json(), "--data", toy / "binarized", "--threads", 1]
    flags += ["--development", *(toy / f"development.{side}" for side in SIDES)]
    flags += ["--shortlists", *(toy / f"shortlist.{side}" for side in SIDES), "--languages", "xa", "xb"]
    flags += ["--checkpoints", output / "checkpoints", "--output", output / "model"]
    return ["train", *map(str, flags)]


def records(output: Path) -> list[dict[str, Any]]:
    """The metrics of a finished training, without what depends on the clock."""
    lines = (output / "model" / "metrics.jsonl").read_text().split("\n")[:-1]
    clock = ("seconds", "words_per_second")
    return [{key: value for key, value in json.loads(line).items() if key not in clock} for line in lines]


def weights(output: Path) -> bytes:
    """The bytes of a trained model."""
    return (output / "model" / "model.safetensors").read_bytes()
