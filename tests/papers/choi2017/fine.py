"""A folder with a text, its translation and a model of fine-grained attention, and what the equations say of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from nmt.corpora.shortlist import EOS
from tests.model import oracle
from tests.model.models import save_trained, sign, tiny_model

SOURCE = ["s2 s9 s3", "s4 s4 s10 s2 s5", "s8", ""]
TARGET = ["t3 t2", "t9 t4 t4 t12", "", "t2"]
FINE = {"attention": "fine_grained", "score_previous": True, "unit": "lstm", "decoder_order": "printed"}


def make(folder: Path) -> Path:
    """Models `fine`, `plain` and `fixed`, and the files source.txt and target.txt."""
    kinds = {"fine": FINE, "plain": FINE | {"attention": "additive"}, "fixed": {"attention": "fixed"}}
    for name, settings in kinds.items():
        save_trained(folder / name, tiny_model(dtype=torch.float32, **settings))
    for name, lines in (("source", SOURCE), ("target", TARGET)):
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    return folder


def options(folder: Path) -> list[str]:
    """The options of a step that shows one sentence."""
    files = ["--source", str(folder / "source.txt"), "--translation", str(folder / "target.txt")]
    return ["--model", str(folder / "fine"), *files, "--device", "cpu"]


def equations(line: int) -> NDArray[np.floating]:
    """alpha of the model `fine` for a line, counted from 1: (target words + 1, source words + 1, dimensions)."""
    weights = {name: weight.numpy() for name, weight in tiny_model(**FINE).state_dict().items()}
    source, target = ([int(word[1:]) for word in side[line - 1].split()] for side in (SOURCE, TARGET))
    _, alphas = oracle.nll(weights, [*source, EOS], [*target, EOS], True)
    return np.array(alphas)


def save_other(folder: Path) -> None:
    """A model with attention whose target words are others."""
    save_trained(folder, tiny_model(dtype=torch.float32))
    shortlist = folder / "target.tsv"
    shortlist.write_text(shortlist.read_text().replace("t3\t", "t33\t"))
    sign(folder)
