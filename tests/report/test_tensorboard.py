"""Event files for TensorBoard, where it is installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.__main__ import main
from nmt.report import tensorboard
from nmt.report.tensorboard import add_learning_rates
from nmt.settings.variant import Variant
from tests.conftest import SmallDisk
from tests.model.models import save_trained, tiny_model
from tests.training.toy import SIDES, arguments

ROOT = Path(__file__).parents[2]
RECORDS = [
    {"updates": 50, "seconds": 10.0, "train_nll": 9.5, "gradient_norm": 2.0, "words_per_second": 100.0},
    {"updates": 100, "seconds": 21.5, "train_nll": None, "gradient_norm": None, "words_per_second": 110.0},
    {"updates": 100, "seconds": 25.0, "development_nll": 8.5, "development_bleu": 12.5},
]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A command that converts the metrics of the one model that there is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").symlink_to(ROOT / "config")
    folder = tmp_path / "data/demo/checkpoints/RNNsearch-50"
    folder.mkdir(parents=True)
    (folder / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS) + '{"upd')
    return ["tensorboard", "demo", "--output", "board"]


def test_every_figure_is_there_once(command: list[str], tmp_path: Path) -> None:
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    for _ in range(2):
        assert main(command) == 0
    assert [path.name for path in (tmp_path / "board/demo").iterdir()] == ["RNNsearch-50"]
    assert len(list((tmp_path / "board/demo/RNNsearch-50").iterdir())) == 1
    other = tmp_path / "board/demo/RNNsearch-50/events.out.tfevents.1.host.2.3"  # of another program
    other.write_bytes(b"")
    assert main(command) == 0
    assert len(list((tmp_path / "board/demo/RNNsearch-50").iterdir())) == 2
    other.unlink()
    events = reader.EventAccumulator(str(tmp_path / "board/demo/RNNsearch-50"))
    events.Reload()
    assert set(events.Tags()["scalars"]) == {
        "NLL of a sentence/training",
        "NLL of a sentence/development",
        "BLEU/development",
        "learning rate",
        "gradient norm",
        "words a second",
    }
    speed = [(one.step, one.wall_time, one.value) for one in events.Scalars("words a second")]
    assert speed == [(50, 10.0, 100.0), (100, 21.5, 110.0)]
    assert [(one.step, one.value) for one in events.Scalars("NLL of a sentence/development")] == [(100, 8.5)]
    assert [(one.step, one.value) for one in events.Scalars("BLEU/development")] == [(100, 12.5)]


@pytest.mark.parametrize("settings", [{"cooldown": 30}, {"cooldown": 100, "optimizer": "adam"}])
def test_the_learning_rate_falls_to_zero_in_the_cooldown(settings: dict[str, Any]) -> None:
    variant = Variant.build({"name": "x", "updates": 100, "learning_rate": 0.5, **settings}, "x")
    for before in (0, 40):
        records: list[Any] = [{"updates": before + at, "seconds": 1.0, "train_nll": 1.0} for at in range(1, 101)]
        add_learning_rates(records, variant.optimization, before)
        left = [before + 100 - (record["updates"] - 1) for record in records]
        rates = [0.5 * min(1, number / settings["cooldown"]) for number in left]
        assert [record["learning_rate"] for record in records] == pytest.approx(rates)
    constant = Variant.build({"name": "x", "updates": 100, "learning_rate": 0.5}, "x").optimization
    add_learning_rates(records, constant, None)
    assert {record["learning_rate"] for record in records} == {0.5}
    evaluation: list[Any] = [{"updates": 50, "seconds": 1.0, "development_nll": 1.0}]
    add_learning_rates(evaluation, variant.optimization, 0)
    assert "learning_rate" not in evaluation[0]


def test_a_falling_learning_rate_is_left_out_where_its_end_is_not_known(command: list[str], tmp_path: Path) -> None:
    """RNNsearch-50* continues a model whose folder is gone."""
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    (tmp_path / "data/demo/checkpoints/RNNsearch-50").rename(tmp_path / "data/demo/checkpoints/RNNsearch-50star")
    assert main(command) == 0
    events = reader.EventAccumulator(str(tmp_path / "board/demo/RNNsearch-50star"))
    events.Reload()
    assert "gradient norm" in events.Tags()["scalars"]
    assert "learning rate" not in events.Tags()["scalars"]


def images(folder: Path) -> list[tuple[int, float, bytes]]:
    """Updates, seconds and PNG of each picture of alignments in a run."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    if "alignments" not in events.Tags()["images"]:
        return []
    return [(one.step, one.wall_time, one.encoded_image_string) for one in events.Images("alignments")]


def test_a_picture_shows_what_the_models_attend_to(
    command: list[str], tmp_path: Path, toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A finished model, and the latest checkpoint of one that is trained; a model without attention has no picture."""
    pytest.importorskip("tensorboard")
    models, checkpoints = tmp_path / "data/demo/models", tmp_path / "data/demo/checkpoints"
    shutil.rmtree(checkpoints)
    for name, attention in (("RNNsearch-50", "additive"), ("RNNencdec-50", "fixed")):
        save_trained(models / name, tiny_model(dtype=torch.float32, attention=attention))
        (models / name / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    assert main([*arguments(toy, tmp_path / "run", checkpoint_every=10, updates=50), "--minutes", "1e-9"]) == 0
    shutil.move(tmp_path / "run/checkpoints", checkpoints / "RNNsearch-30")
    for side, language in zip(SIDES, ("en", "fr"), strict=True):
        for kind in ("shortlist", "tokenized"):
            (tmp_path / "data/demo" / kind).mkdir(exist_ok=True)
        shutil.copy(toy / f"shortlist.{side}", tmp_path / f"data/demo/shortlist/{language}.tsv")
        shutil.copy(toy / f"development.{side}", tmp_path / f"data/demo/tokenized/development.{language}")
    capsys.readouterr()
    assert main(command) == 0
    assert capsys.readouterr().err == ""
    [(updates, seconds, png)] = images(tmp_path / "board/demo/RNNsearch-50")
    assert (updates, seconds, png[:4]) == (tiny_model().updates, 0, b"\x89PNG")
    [(updates, seconds, png)] = images(tmp_path / "board/demo/RNNsearch-30")
    assert updates == 1
    assert images(tmp_path / "board/demo/RNNencdec-50") == []


def test_a_picture_that_cannot_be_made_is_one_line(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tensorboard")
    assert main(command) == 0
    folder = "data/demo/checkpoints/RNNsearch-50"
    said = f"nmt: warning: RNNsearch-50: no picture of its alignments: {folder}: no whole checkpoint in it"
    error = capsys.readouterr().err
    assert error.startswith(said)
    assert error.count("\n") == 1
    assert images(tmp_path / "board/demo/RNNsearch-50") == []


def test_odd_records_are_left_out(command: list[str], tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    file = tmp_path / "data/demo/checkpoints/RNNsearch-50/metrics.jsonl"
    odd = ["x", True, [], {}, 10**400, -1, float("nan"), float("inf")]
    lines = [RECORDS[0] | {key: one} for one in odd for key in RECORDS[0]]
    lines += [{**RECORDS[0], "train_nll": 1e308}, {**RECORDS[0], "updates": 10**14, "seconds": 1e300}, [], None]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(command) == 0


def test_another_call_may_replace_the_files_meanwhile(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tensorboard")
    assert main(command) == 0
    [earlier] = (tmp_path / "board/demo/RNNsearch-50").iterdir()
    monkeypatch.setattr(tensorboard, "one_line_errors", lambda: nullcontext(earlier.unlink()))
    assert main(command) == 0
    assert len(list(earlier.parent.iterdir())) == 1


def test_a_training_may_end_meanwhile(command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its metrics move from the folder of its checkpoints to that of its model."""
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    unfinished, finished = (tmp_path / f"data/demo/{kind}/RNNsearch-50" for kind in ("checkpoints", "models"))
    earlier = "RNNsearch-30"
    shutil.copytree(unfinished, unfinished.with_name(earlier))
    finished.parent.mkdir()

    def draw(_: object, variant: Variant, folder: Path) -> None:
        if variant.name == earlier:
            unfinished.rename(finished)
        assert folder.exists()

    monkeypatch.setattr(tensorboard, "draw_alignments", draw)
    assert main(command) == 0
    events = reader.EventAccumulator(str(tmp_path / "board/demo/RNNsearch-50"))
    events.Reload()
    assert events.Tags()["scalars"]


def test_without_tensorboard_one_line_says_so(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "torch.utils.tensorboard", raising=False)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    assert main(command) == 1
    said = "nmt tensorboard: tensorboard is not installed; pip install 'nmt[tensorboard]'\n"
    assert capsys.readouterr().err == said


def test_nothing_to_show_is_one_line(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tensorboard", "open", "--output", "board"]) == 1
    assert "data/open: no training has begun" in capsys.readouterr().err


def test_what_a_killed_process_left_is_removed(command: list[str], tmp_path: Path) -> None:
    """TensorBoard would show it as a run."""
    pytest.importorskip("tensorboard")
    process = subprocess.Popen(["true"])
    process.wait()
    left = (
        tmp_path / f"board/demo/RNNsearch-50/.events.{process.pid}.partial/events.x/events.out.tfevents.1.host.2.3.nmt"
    )
    left.parent.mkdir(parents=True)
    left.write_bytes(b"")
    assert main(command) == 0
    assert len(list((tmp_path / "board/demo/RNNsearch-50").iterdir())) == 1


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_full_disk_is_one_line(
    command: list[str], small_disk: SmallDisk, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """SummaryWriter's thread would print a traceback first."""
    pytest.importorskip("tensorboard")
    output = small_disk.folder / "board"
    metrics = tmp_path / "data/demo/checkpoints/RNNsearch-50/metrics.jsonl"
    metrics.write_text("".join(json.dumps({**RECORDS[0], "updates": number}) + "\n" for number in range(1, 1000)))
    small_disk.limit(20_000)
    assert main([*command[:3], str(output)]) == 1
    assert re.search("^nmt tensorboard: .*no space left.*\n\\Z", capsys.readouterr().err, re.MULTILINE)
    small_disk.free()
    assert main([*command[:3], str(output)]) == 0
