"""The points of the learning curves, from the metrics of finished trainings."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from nmt.__main__ import main
from nmt.monitor import gather_metrics
from nmt.monitor.gather_metrics import COLUMNS
from nmt.system.tables import read_csv
from tests.training.toy import arguments, records


def write(folder: Path, lines: list[dict[str, float | None]], hours: float, seed: int = 7) -> Path:
    summary = {"hours": hours, "seed": seed, "updates": lines[-1]["updates"] if lines else 0, "updates_best": 100}
    folder.mkdir()
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder


def gathered(tmp_path: Path, *models: tuple[str | Path, ...]) -> list[list[str]]:
    flags = [word for model in models for word in ("--model", *map(str, model))]
    assert main(["gather_metrics", *flags, "--output", str(tmp_path / "curves.csv")]) == 0
    return read_csv(tmp_path / "curves.csv", COLUMNS)


def test_a_real_training_and_one_that_continues_it(toy: Path, tmp_path: Path) -> None:
    """Updates and hours add up, and every record is there once."""
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(arguments(toy, first)) == 0
    assert main([*arguments(toy, second, continues="tiny"), "--initial", str(first / "model")]) == 0
    rows = gathered(tmp_path, ("one", first / "model"), ("one*", second / "model", first / "model"))
    expected = []
    for label, folder in (("one", first), ("one*", second)):
        for measure in ("train_nll", "development_nll"):
            found = [(str(one["updates"]), f"{one[measure]:.3f}") for one in records(folder) if measure in one]
            expected += [(label, measure, *one) for one in found]
    assert [(row[0], row[1], row[2], row[4]) for row in rows] == expected
    assert [row[2] for row in rows if row[:2] == ["one*", "development_nll"]] == ["40", "50", "60"]
    assert {(row[0], *row[5:]) for row in rows} == {("one", "1234", "0"), ("one*", "1234", "30")}
    ends = [json.loads((folder / "model/summary.json").read_text())["hours"] for folder in (first, second)]
    hours = {
        label: [float(row[3]) for row in rows if row[:2] == [label, "development_nll"]] for label in ("one", "one*")
    }
    assert [hours["one"][-1], hours["one*"][-1]] == pytest.approx(ends, abs=1e-5)
    assert min(hours["one*"]) >= hours["one"][-1]


def test_hours_begin_where_the_model_that_is_continued_ended(tmp_path: Path) -> None:
    lines = [
        {"updates": 150, "seconds": 1800.0, "train_nll": 3.0},
        {"updates": 200, "seconds": 3600.0, "train_nll": 2.0},
    ]
    folders = write(tmp_path / "A", lines, hours=5.0), write(tmp_path / "before", lines, hours=4.0)
    assert gathered(tmp_path, ("A*", *folders)) == [
        ["A*", "train_nll", "150", "4.50000", "3.000", "7", "100"],
        ["A*", "train_nll", "200", "5.00000", "2.000", "7", "100"],
    ]


def test_what_is_recorded_again_replaces_the_old_and_missing_figures_are_left_out(tmp_path: Path) -> None:
    lines = [
        {"updates": 50, "seconds": 360.0, "train_nll": 9.0},
        {"updates": 100, "seconds": 720.0, "train_nll": 8.0},
        {"updates": 100, "seconds": 756.0, "development_nll": 8.5},
        {"updates": 150, "seconds": 1080.0, "train_nll": 7.0},
        {"updates": 100, "seconds": 1440.0, "train_nll": 8.25},  # resumed from update 50
        {"updates": 100, "seconds": 1476.0, "development_nll": 8.75},
        {"updates": 150, "seconds": 1800.0, "train_nll": None},  # all updates skipped
        {"updates": 200, "seconds": 2160.0, "train_nll": 6.0},
    ]
    folder = write(tmp_path / "A", lines, hours=0.6)
    with open(folder / "metrics.jsonl", "a") as file:
        file.write('{"updates": 250, "sec')
    assert gathered(tmp_path, ("A", folder)) == [
        ["A", "train_nll", "50", "0.10000", "9.000", "7", "0"],
        ["A", "train_nll", "100", "0.40000", "8.250", "7", "0"],
        ["A", "train_nll", "200", "0.60000", "6.000", "7", "0"],
        ["A", "development_nll", "100", "0.41000", "8.750", "7", "0"],
    ]


def test_the_bleu_of_the_development_set(tmp_path: Path) -> None:
    lines = [
        {"updates": 50, "seconds": 360.0, "train_nll": 9.0},
        {"updates": 50, "seconds": 720.0, "development_nll": 8.5, "development_bleu": 21.25},
    ]
    rows = gathered(tmp_path, ("A", write(tmp_path / "A", lines, hours=0.2)))
    assert [row[1:] for row in rows] == [
        ["train_nll", "50", "0.10000", "9.000", "7", "0"],
        ["development_nll", "50", "0.20000", "8.500", "7", "0"],
        ["development_bleu", "50", "0.20000", "21.250", "7", "0"],
    ]


def test_a_long_training_has_few_points_which_are_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather_metrics, "POINTS", 4)
    values = np.random.default_rng(1).random(10).round(3)
    lines = [{"updates": 50 * n, "seconds": 36.0 * n, "train_nll": value} for n, value in enumerate(values, 1)]
    lines += [{"updates": 50 * n, "seconds": 36.0 * n, "development_nll": 1.0} for n in range(1, 11)]
    rows = gathered(tmp_path, ("A", write(tmp_path / "A", lines, hours=0.1)))
    train = [(int(row[2]), row[3]) for row in rows if row[1] == "train_nll"]
    assert train == [(150, "0.03000"), (300, "0.06000"), (450, "0.09000"), (500, "0.10000")]
    means = [values[first : first + 3].mean() for first in range(0, 10, 3)]
    assert [float(row[4]) for row in rows if row[1] == "train_nll"] == pytest.approx(means, abs=6e-4)
    assert sum(row[1] == "development_nll" for row in rows) == 10


def test_a_folder_without_metrics_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "A").mkdir()
    assert main(["gather_metrics", "--model", "A", str(tmp_path / "A"), "--output", str(tmp_path / "c.csv")]) == 1
    error = f"nmt gather_metrics: {tmp_path}/A/metrics.jsonl: no metrics in it; train the model with the step train\n"
    assert capsys.readouterr().err == error
    assert not (tmp_path / "c.csv").exists()


def test_a_model_without_its_folder_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gather_metrics", "--model", "A", "--output", str(tmp_path / "c.csv")]) == 1
    assert capsys.readouterr().err.startswith("nmt gather_metrics: --model A: give a label, a folder and, if")


def test_a_training_is_named_once_with_the_model_that_it_continues(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    last = {"seconds": 1.0, "train_nll": 1.0}
    first, other = (str(write(tmp_path / name, [{"updates": n, **last}], 1)) for name, n in (("a", 100), ("b", 5)))
    output = ["--output", str(tmp_path / "out.csv")]
    assert main(["gather_metrics", *["--model", "A", first] * 2, *output]) == 1
    assert f"--model A {first}: given twice; name each training once" in capsys.readouterr().err
    into = f"{first}/summary.json"
    assert main(["gather_metrics", "--model", "A", first, "--output", into]) == 1
    assert f"{into}: lies in {first}, which is read; name another output" in capsys.readouterr().err
    assert main(["gather_metrics", "--model", "B", other, first, *output]) == 1
    assert f"{first}: has 100 updates, but {other} only 5; name the model that it continues" in capsys.readouterr().err


def test_metrics_that_were_cut_are_one_line(toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their hours would be counted from another beginning."""
    assert main(arguments(toy, tmp_path)) == 0
    metrics = tmp_path / "model/metrics.jsonl"
    metrics.write_bytes(metrics.read_bytes()[: metrics.stat().st_size // 2])
    capsys.readouterr()
    assert main(["gather_metrics", "--model", "one", str(tmp_path / "model"), "--output", str(tmp_path / "a.csv")]) == 1
    said = r".*metrics.jsonl: ends with update \d+, but the model has 30; restore the file or train the model again\n"
    assert re.fullmatch(f"nmt gather_metrics: {said}", capsys.readouterr().err)


def test_metrics_with_a_damaged_line_are_one_line(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(toy, tmp_path)) == 0
    metrics = tmp_path / "model/metrics.jsonl"
    metrics.write_bytes(metrics.read_bytes().replace(b'"', b"\0", 1))
    capsys.readouterr()
    assert main(["gather_metrics", "--model", "one", str(tmp_path / "model"), "--output", str(tmp_path / "a.csv")]) == 1
    assert "metrics.jsonl: a line is not a whole record; restore the file or train" in capsys.readouterr().err
