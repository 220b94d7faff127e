"""What `nmt.load` returns: scores and alignments as the commands give them; threads, pickles and forks."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nmt
from nmt.__main__ import main
from nmt.report.panels import read_panels
from nmt.search.loaded import Model
from nmt.system.errors import UserError
from tests.model.models import save_trained, tiny_model

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "models/en-fr"
SOURCES = ["I do not know where he lives.", "", "The house (white) isn't far.", "Hello."]
TARGETS = ["Je ne sais pas où il habite.", "Bonjour.", "", "L'été\u2028est là."]
# The child says after a fork, with as many threads in the parent as there are, what it translates.
FORK = """
import os, signal, sys
import nmt
import torch

torch.set_num_threads(2)
model, lines = nmt.load(sys.argv[1], "cpu"), ["I do not know where he lives."] * 8
before = model.translate(lines)
if os.fork() == 0:
    signal.alarm(60)
    os._exit(0 if model.translate(lines) == before else 9)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.fixture(scope="module")
def model() -> Model:
    return nmt.load(SHIPPED, "cpu")


def write(path: Path, lines: list[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("tokenized", [False, True])
def test_scores_and_alignments_are_those_of_the_commands(model: Model, tokenized: bool, tmp_path: Path) -> None:
    model = replace(model, tokenized=tokenized)
    texts = [write(tmp_path / "source", SOURCES), write(tmp_path / "target", TARGETS)]
    words = ["--model", str(SHIPPED), "--device", "cpu", *texts, *["--tokenized"] * tokenized]
    assert main(["score", *words, "--output", str(tmp_path / "scores.tsv")]) == 0
    rows = [f"{one.log_probability:.6f}\t{one.length}" for one in model.score(SOURCES, iter(TARGETS))]
    assert (tmp_path / "scores.tsv").read_text().split("\n")[1:-1] == rows
    assert main(["align", *words, "--table", str(tmp_path / "table.csv")]) == 0
    pairs = model.align(SOURCES, (f"{line}\n" for line in TARGETS))
    for panel, pair in zip(read_panels(str(tmp_path / "table.csv")), pairs, strict=True):
        assert (panel.source, panel.target) == (pair.source, pair.target)
        np.testing.assert_array_equal(panel.weights, [[float(f"{one:.6f}") for one in row] for row in pair.weights])


def test_a_translation_has_the_score_of_the_search(model: Model) -> None:
    [[found]] = model.search(SOURCES[:1])
    [score] = model.score(SOURCES[:1], [found.text])
    assert (score.log_probability, score.length) == (pytest.approx(found.log_probability, abs=1e-4), found.length)


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        ((["a"], ["b", "c"]), "sources, targets: 1 and 2 lines; give as many of both"),
        (("a", ["b"]), "expected a list of sentences, not one sentence"),
        ((["a"], [None]), "line 1 is NoneType, not a string"),
    ],
)
def test_a_mistake_is_said(model: Model, sides: tuple[Any, Any], said: str) -> None:
    for method in (model.score, model.align):
        with pytest.raises(UserError, match=said):
            method(*sides)


def test_nothing_is_nothing(model: Model) -> None:
    assert (model.score([], []), model.align([], [])) == ([], [])


def test_a_fixed_context_has_scores_and_no_alignment(tmp_path: Path) -> None:
    save_trained(tmp_path / "model", tiny_model(dtype=torch.float32, attention="fixed"))
    model = nmt.load(tmp_path / "model", "cpu")
    assert model.score(["s2"], ["t2"])[0].length == 2
    with pytest.raises(UserError, match="its context is fixed"):
        model.align(["s2"], ["t2"])


def test_threads_get_what_they_would_get_alone(model: Model) -> None:
    lines = [SOURCES[number % 4] + " And." * (number % 3) for number in range(12)]
    alone = model.translate(lines, beam=3)
    with ThreadPoolExecutor(4) as pool:
        shares = [pool.submit(model.translate, lines[number:] + lines[:number], beam=3) for number in range(8)]
        scores = [pool.submit(model.score, SOURCES, TARGETS) for _ in range(8)]
        assert [one.result() for one in shares] == [alone[number:] + alone[:number] for number in range(8)]
        assert [one.result() for one in scores] == [model.score(SOURCES, TARGETS)] * 8


def test_a_pickle_is_the_folder_and_the_options(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also from a relative path, and after a translation has kept its detokenizer."""
    monkeypatch.chdir(ROOT)
    chosen = replace(nmt.load("models/en-fr", "cpu", tokenized=True), dictionary={"house": "maison"})
    translated = chosen.translate(SOURCES, beam=2)
    monkeypatch.chdir(tmp_path)
    kept = pickle.dumps(chosen)
    assert len(kept) < 1000
    for again in (pickle.loads(kept), copy.deepcopy(model)):
        assert isinstance(again, Model)
    again = pickle.loads(kept)
    assert (again.tokenized, again.device, again.dictionary) == (True, "cpu", {"house": "maison"})
    assert again.translate(SOURCES, beam=2) == translated


def test_a_process_that_forks_off_translates() -> None:
    run = subprocess.run([sys.executable, "-c", FORK, SHIPPED], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
