"""What a run ends with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nmt.monitor.ending import ending
from nmt.settings.extends import read_experiment
from tests.papers.experiment import experiment


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_best_model_translates() -> None:
    for system, bleu in (("RNNsearch-50star", 91.14), ("RNNencdec-50", 20), ("phrase-based", 95.26)):
        file = Path(f"data/demo/evaluation/{system}/toy-test.json")
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"all": {"bleu": bleu}}))
    assert ending(read_experiment(["demo"])) == [
        "BLEU on toy-test: RNNencdec-50 20.0, RNNsearch-50* 91.1, Phrase-based (Thot) 95.3.",
        "The page with all results: results/demo/index.html",
        "The models: data/demo/models",
        "To translate: python -m nmt translate --model data/demo/models/RNNsearch-50star < FILE",
    ]


def test_seeds_of_a_model_are_named_by_their_mean() -> None:
    for system, bleu in (("search", 10.0), ("search-seed1235", 14.0)):
        file = Path(f"data/x/evaluation/{system}/d.json")
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"all": {"bleu": bleu}}))
    first, *_, last = ending(experiment(seeds=2))
    assert first == "BLEU on d: RNNsearch* 12.0."
    assert "models/search-seed1235 " in last


def test_one_model_without_a_score_and_of_tokenized_text() -> None:
    one = experiment(variants={"search": {"updates": 1}}, tokenized=True)
    assert ending(one) == [
        f"The page with all results: {one.results}/index.html",
        f"The model: data/{one.name}/models/search",
        f"To translate: python -m nmt translate --model data/{one.name}/models/search --tokenized < FILE",
    ]
