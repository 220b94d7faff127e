"""What a run will take: by the bench, by the benchmark files of the last run, and by what is left of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bench.machine import PAPER, products_of_update
from nmt.corpora.registry import Archive
from nmt.monitor.forecast import BENCH, announcement, measured, pair_products, span, training_seconds
from nmt.settings.experiment import Experiment
from nmt.settings.extends import read_experiment
from nmt.settings.sections import BytePairs, SentencePiece
from nmt.settings.variant import Architecture

ROOT = Path(__file__).parents[2]
ROWS = """\
device,precision,implementation,source_words,seconds
slow,float32,eager,20.0000,99
"Chip, 2 threads",float32,ours,20.0000,2.5
slow,float32,ours,20.0000,99
slow,float32,ours,50.0000,99
"""
ARCHIVES = [Archive("https://host/a.tgz", bytes=3_000_000_000), Archive("https://host/b.tgz", bytes=400_000_000)]


DAMAGED = [
    "a,b\n1,2\n",
    "implementation,source_words,precision,device,seconds\nours,20,float32,x,\nours,20\n",
    "implementation,source_words,precision,device,seconds\nours,20,float32,x,0\n",
    "s\n",
    "<<<<<<< HEAD\n",
    "\udcff\n",
    "s\th:m:s\nx\t0\n",
]


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Experiment:
    """The paper's experiment, in a folder with a bench and nothing else."""
    (tmp_path / "config").symlink_to(ROOT / "config")
    (tmp_path / BENCH).parent.mkdir(parents=True)
    (tmp_path / BENCH).write_text(ROWS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nmt.monitor.forecast.PROJECT", tmp_path)
    return read_experiment([])


def test_products_are_those_of_the_bench() -> None:
    """A third of the bench's, which counts the backward pass, and half, for it counts additions."""
    counted = 6 * 80 * pair_products(PAPER, 30_001, 20, 20)
    assert counted == pytest.approx(products_of_update(30_001, 80, 20, 20), rel=0.1)


def test_smaller_models_take_less() -> None:
    sizes = {"embedding": 96, "hidden": 128, "alignment": 128, "maxout": 64, "output_rank": None}
    large = pair_products(Architecture(), 30_001, 25, 25)
    assert pair_products(Architecture(**sizes), 2_001, 25, 25) < large / 50
    assert pair_products(Architecture(attention="fixed"), 30_001, 25, 25) < large
    assert pair_products(Architecture(unit="lstm"), 30_001, 25, 25) > large
    assert pair_products(Architecture(attention="fine_grained"), 30_001, 25, 25) > 2 * large


def test_trainings_take_their_updates_at_the_speed_of_the_bench(paper: Experiment) -> None:
    """An update on sentences of 25 words takes somewhat longer than the 2.5 s of 20 words."""
    seconds, device = training_seconds(paper, ["RNNsearch-50"])
    assert device == "Chip, 2 threads"
    assert 1.2 < seconds / (288_000 * 2.5) < 1.4
    assert training_seconds(paper, []) == (0, device)
    BENCH.unlink()
    assert training_seconds(paper, ["RNNsearch-50"]) == (0, "")


@pytest.mark.parametrize("tokenizer", ["moses", "sentencepiece"])
def test_fewer_subwords_take_less(paper: Experiment, tokenizer: str) -> None:
    kind, named = (BytePairs, "bpe") if tokenizer == "moses" else (SentencePiece, "sentencepiece")
    few, many = (replace(paper, tokenizer=tokenizer, **{named: kind(symbols=symbols)}) for symbols in (500, 30_000))
    words = training_seconds(paper, ["RNNsearch-50"])[0]
    assert training_seconds(many, ["RNNsearch-50"])[0] == words
    assert training_seconds(few, ["RNNsearch-50"])[0] < 0.7 * words


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_table_gives_no_estimate(paper: Experiment, tmp_path: Path, text: str) -> None:
    """It serves the display alone, and so ends no run."""
    BENCH.write_text(text, errors="surrogateescape")
    assert training_seconds(paper, ["RNNsearch-50"]) == (0, "")
    assert announcement(paper, [], ["RNNsearch-50"]) == ""
    folder = tmp_path / "benchmarks/train" / paper.name
    folder.mkdir(parents=True)
    for name, said in {"RNNsearch-50": "s\n3\n", "RNNsearch-30": text, "removed": "s\n90\n"}.items():
        (folder / f"{name}.tsv").write_text(said, errors="surrogateescape")
    assert measured(paper) == {"train": 3}


def test_updates_that_are_done_do_not_count(paper: Experiment) -> None:
    whole, _ = training_seconds(paper, ["RNNsearch-50"])
    metrics = Path("data/wmt14/checkpoints/RNNsearch-50/metrics.jsonl")
    metrics.parent.mkdir(parents=True)
    metrics.write_text("".join(json.dumps({"updates": n, "seconds": 1.0}) + "\n" for n in (50, 72_000)))
    assert training_seconds(paper, ["RNNsearch-50"])[0] == pytest.approx(whole * 3 / 4)


def test_updates_of_the_model_before_are_none_of_its_own(paper: Experiment) -> None:
    whole, _ = training_seconds(paper, ["RNNsearch-50star"])
    metrics = Path("data/wmt14/checkpoints/RNNsearch-50star/metrics.jsonl")
    metrics.parent.mkdir(parents=True)
    metrics.write_text(json.dumps({"updates": 100_000 + 379_000 // 2, "seconds": 1.0}) + "\n")
    assert training_seconds(paper, ["RNNsearch-50star"])[0] == whole  # nothing is known of the one before
    before = Path("data/wmt14/models/RNNsearch-50/summary.json")
    before.parent.mkdir(parents=True)
    before.write_text('{"updates_best": 100000}')
    assert training_seconds(paper, ["RNNsearch-50star"])[0] == pytest.approx(whole / 2)


def test_what_is_said_of_a_long_run(paper: Experiment) -> None:
    assert re.fullmatch(  # 759,000 updates, each 1.2 to 1.4 times 2.5 s
        r"nmt: this run fetches 2 archives, 3\.4 GB, and trains 2 models for about (2[6-9]|30) days in all, "
        "at the speed of `make bench` on Chip, 2 threads",
        announcement(paper, ARCHIVES, ["RNNsearch-50", "RNNsearch-30"]),
    )
    unknown = [*ARCHIVES, Archive("https://host/c.tgz")]
    assert announcement(paper, unknown, []) == "nmt: this run fetches 3 archives, at least 3.4 GB"
    assert announcement(paper, ARCHIVES[1:], []) == ""


def test_nothing_is_said_of_the_demonstration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    demonstration = read_experiment(["demo"])
    assert announcement(demonstration, [Archive("https://host/a.tgz")], list(demonstration.variants)) == ""


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.4, "0 seconds"),
        (0.9, "1 second"),
        (119, "119 seconds"),
        (150.1, "3 minutes"),
        (7200, "2.0 hours"),
        (36_000, "10 hours"),
        (1e6, "12 days"),
    ],
)
def test_a_span_in_words(seconds: float, said: str) -> None:
    assert span(seconds) == said
