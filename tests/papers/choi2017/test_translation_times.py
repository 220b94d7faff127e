"""The times of translations: the models' turns, what each turn translates, and inputs that do not fit."""

from __future__ import annotations

import csv
import itertools
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.__main__ import main
from nmt.search import beam, text
from tests.model.models import save_trained, tiny_model

LINES = ["s4", "s2 s9 s3", "", "s3 s3", "s2 s2 s10 s3 s5", "s7 s8", "s5 s6 s4 s2"]


def times(folder: Path, *more: str) -> list[str]:
    for name in ("one", "two"):
        save_trained(folder / name, tiny_model(dtype=torch.float32, decoder_order="printed"))
    (folder / "source").write_text("".join(f"{line}\n" for line in LINES))
    words = ["choi2017.translation_times", "--models", str(folder / "one"), str(folder / "two"), "--labels", "A", "B"]
    words += ["--source", str(folder / "source"), "--settings", '{"beam": 3, "batch": 4, "fallback": false}']
    return [*words, "--device", "cpu", "--output", str(folder / "times.csv"), *more]


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "times.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_models_take_turns_in_both_orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    translated = []

    def search_all(model: Any, sources: Any, batch: int, settings: beam.BeamSettings) -> Any:
        assert (settings.width, settings.fallback, settings.n_best, settings.alignments) == (3, False, 1, False)
        translated.append(([len(source) for source in sources], batch))
        return iter([])

    clock = itertools.count()
    monkeypatch.setattr(beam, "search_all", search_all)
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock) ** 2)
    assert main(times(tmp_path)) == 0
    found = rows(tmp_path)
    assert [(row["model"], row["batch"], row["turn"], row["sentences"]) for row in found] == [
        *(("A", "1", "0", "4"), ("B", "1", "0", "4"), ("A", "4", "0", "4"), ("B", "4", "0", "4")),
        *(("B", "1", "1", "2"), ("A", "1", "1", "2"), ("B", "4", "1", "2"), ("A", "4", "1", "2")),
    ]
    # The clock says 0, 1, 4, 9, ...: four searches warm up, and the n-th begins at (2n)^2 and ends at (2n + 1)^2.
    assert [float(row["seconds"]) for row in found] == [4 * n + 1 for n in range(4, 12)]
    longest, shortest = [5, 4, 3, 2], [2, 1]
    assert [lengths for lengths, _ in translated] == [shortest] * 4 + [longest] * 4 + [shortest] * 4
    assert {(row["beam"], row["device"]) for row in found} == {("3", "CPU, 1 thread")}


def test_the_first_sentences_alone(tmp_path: Path) -> None:
    assert main(times(tmp_path, "--sentences", "4")) == 0
    found = rows(tmp_path)
    assert {(row["turn"], row["sentences"]) for row in found} == {("0", "3")}  # one of the four is empty
    assert len(found) == 4
    assert all(float(row["seconds"]) > 0 for row in found)


def test_models_that_know_words_of_different_sentences_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking, to_symbols = iter([0, 1]), text.to_symbols
    monkeypatch.setattr(text, "to_symbols", lambda *given: to_symbols(*given)[next(lacking) :])
    assert main(times(tmp_path)) == 1
    assert (
        "source: symbols of different sentences (A of 6, B of 5); time models of one vocab" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda folder: (folder / "source").write_text("\n \n"), "source: no words in the sentences to translate"),
        (lambda folder: (folder / "source").write_text(""), "source: empty"),
        (lambda folder: (folder / "two/source.tsv").unlink(), "no source.tsv in it"),
    ],
)
def test_inputs_that_do_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str], edit: Any, message: str) -> None:
    words = times(tmp_path)
    edit(tmp_path)
    assert main(words) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "times.csv").exists()


def test_a_file_of_a_model_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(times(tmp_path, "--output", str(tmp_path / "two/model.safetensors"))) == 1
    assert "two/model.safetensors: lies in " in capsys.readouterr().err
