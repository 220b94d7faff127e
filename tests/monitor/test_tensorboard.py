"""Event files for TensorBoard, where it is installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from nmt.__main__ import main

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
    assert [path.name for path in (tmp_path / "board").iterdir()] == ["RNNsearch-50"]
    assert len(list((tmp_path / "board/RNNsearch-50").iterdir())) == 1
    other = tmp_path / "board/RNNsearch-50/events.out.tfevents.1.host.2.3"  # of another program
    other.write_bytes(b"")
    assert main(command) == 0
    assert len(list((tmp_path / "board/RNNsearch-50").iterdir())) == 2
    other.unlink()
    events = reader.EventAccumulator(str(tmp_path / "board/RNNsearch-50"))
    events.Reload()
    assert set(events.Tags()["scalars"]) == {
        "NLL of a sentence/training",
        "NLL of a sentence/development",
        "BLEU/development",
        "gradient norm",
        "words a second",
    }
    speed = [(one.step, one.wall_time, one.value) for one in events.Scalars("words a second")]
    assert speed == [(50, 10.0, 100.0), (100, 21.5, 110.0)]
    assert [(one.step, one.value) for one in events.Scalars("NLL of a sentence/development")] == [(100, 8.5)]
    assert [(one.step, one.value) for one in events.Scalars("BLEU/development")] == [(100, 12.5)]


def test_odd_records_are_left_out(command: list[str], tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    file = tmp_path / "data/demo/checkpoints/RNNsearch-50/metrics.jsonl"
    odd = ["x", True, [], {}, 10**400, -1, float("nan"), float("inf")]
    lines = [RECORDS[0] | {key: one} for one in odd for key in RECORDS[0]]
    lines += [{**RECORDS[0], "train_nll": 1e308}, {**RECORDS[0], "updates": 10**14, "seconds": 1e300}, [], None]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(command) == 0


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
