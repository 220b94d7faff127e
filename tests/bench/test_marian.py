"""Marian as a contender, by a stand-in that notes what it is given and answers as Marian does."""

from __future__ import annotations

import json
import sys
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bench import marian
from bench.marian import prepare

STAND_IN = """
import json, sys
from itertools import islice
import numpy as np

record, task, *words = sys.argv[1:]
options = {}
for word in words:
    if word.startswith("--"):
        name, *values = word.split("=")
        options[name] = values
    else:
        options[name].append(word)
texts = [open(vocabulary).read() for vocabulary in options["--vocabs"]]
weights = dict(np.load(options["--models"][0])) if task == "decode" else {}
noted = {"task": task, "options": options, "vocabularies": texts, "lines": []}
size = int(options["--mini-batch"][0])
while batch := list(islice(sys.stdin, size)):
    noted["lines"] += batch
    noted["weights"] = {name: weight.tolist() for name, weight in weights.items()}
    with open(f"{record}/{task}", "w") as file:
        json.dump(noted, file)
    print("[2026-11-22] [memory] Reserving 342 MB", file=sys.stderr, flush=True)
    if task == "train":
        print(f"Ep. 1 : Up. 7 : Sen. 8 : Cost 10.3 * {20 * size:,} @ 99 after 999", file=sys.stderr, flush=True)
    else:
        print(*(" ".join(["w7"] * WORDS) for _ in batch), sep="\\n", flush=True)
if task == "train":
    bias = np.full((1, 5), 0.5, dtype=np.float32)
    np.savez(options["--model"][0], decoder_ff_logit_l2_b=bias, encoder_Wemb=np.eye(2))
"""


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where the stand-in notes what it is given. The clock shows 4 seconds more each time it is read."""
    stand_in(monkeypatch, tmp_path, STAND_IN.replace("WORDS", "20"))
    monkeypatch.setattr(marian, "THREADS", 2)
    monkeypatch.setattr(marian, "time", SimpleNamespace(perf_counter=count(0, 4).__next__))
    return tmp_path


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> None:
    script = folder / "program.py"
    script.write_text(program)
    monkeypatch.setattr(marian, "PROGRAM", [sys.executable, str(script), str(folder)])


def given(record: Path, task: str) -> Any:
    return json.loads((record / task).read_text())


def test_a_turn_is_an_update_by_the_whole_batch(record: Path) -> None:
    measure = prepare("train", batch=3, beam=12)
    assert [measure(), measure()] == [{"seconds": 4}] * 2
    noted = given(record, "train")
    assert [[len(side.split()) for side in line.split("\t")] for line in noted["lines"]] == [[19, 19]] * 3 * 3


def test_the_model_is_the_papers(record: Path) -> None:
    prepare("train", batch=80, beam=12)
    noted = given(record, "train")
    expected = {"--type": "s2s", "--enc-type": "bidirectional", "--enc-cell": "gru", "--dec-cell": "gru"}
    expected |= {"--dim-emb": "620", "--dim-rnn": "1000", "--enc-depth": "1", "--dec-depth": "1"}
    expected |= {"--mini-batch": "80", "--maxi-batch": "1", "--maxi-batch-sort": "none", "--shuffle": "none"}
    expected |= {"--cost-type": "ce-sum", "--clip-norm": "1", "--optimizer": "adam", "--cpu-threads": "2"}
    options = noted["options"]
    assert {name: options[name] for name in expected} == {name: [value] for name, value in expected.items()}
    assert "--sync-sgd" in options
    for text in noted["vocabularies"]:
        symbols = dict(line.split(": ") for line in text.splitlines())
        assert sorted(map(int, symbols.values())) == list(range(30_001))
        assert {word for line in noted["lines"] for word in line.split()} <= symbols.keys() - {"</s>", "<unk>"}


def test_each_thread_translates_a_batch(record: Path) -> None:
    measure = prepare("decode", batch=3, beam=12)
    assert [measure(), measure()] == [{"sentences_per_second": 2 * 3 / 4}] * 2
    noted = given(record, "decode")
    assert [len(line.split()) for line in noted["lines"]] == [19] * 3 * 2 * 3
    options = noted["options"]
    assert [options[name] for name in ("--mini-batch", "--beam-size", "--max-length-factor")] == [["3"], ["12"], ["1"]]


def test_only_the_bias_of_eos_is_changed(record: Path) -> None:
    prepare("decode", batch=1, beam=12)
    weights = given(record, "decode")["weights"]
    assert weights == {"decoder_ff_logit_l2_b": [[-100, 0.5, 0.5, 0.5, 0.5]], "encoder_Wemb": np.eye(2).tolist()}


def test_the_files_are_gone_when_the_turns_begin(record: Path) -> None:
    for task, option in (("train", "--model"), ("decode", "--models")):
        prepare(task, batch=1, beam=12)
        assert not Path(*given(record, task)["options"][option]).parent.exists()


def test_a_short_translation_is_noticed(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, record, STAND_IN.replace("WORDS", "19"))
    with pytest.raises(AssertionError):
        prepare("decode", batch=1, beam=12)


def test_what_ends_early_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, tmp_path, "raise SystemExit('no such option')")
    with pytest.raises(SystemExit, match="Marian ended early:\nno such option"):
        prepare("train", batch=1, beam=12)
