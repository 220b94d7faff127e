"""Training: it learns, it resumes to the same bytes, it refuses what would mix two trainings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nmt.__main__ import main
from nmt.files import UserError
from nmt.model.network import load_model
from nmt.training import train
from nmt.training.checkpoint import read_checkpoint
from nmt.training.optimizer import make_optimizer
from tests.model.models import tiny_variant


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy language: the target is the source turned round, in other words."""
    folder = tmp_path_factory.mktemp("toy")
    random = np.random.default_rng(5)
    for name, count in (("train", 2000), ("development", 60)):
        sentences = [random.choice(8, random.integers(1, 7)) for _ in range(count)]
        for side, word, step in (("source", "s", 1), ("target", "t", -1)):
            lines = [" ".join(f"{word}{i}" for i in sentence[::step]) for sentence in sentences]
            (folder / f"{name}.{side}").write_text("".join(line + "\n" for line in lines))
    for side in ("source", "target"):
        text, shortlist = folder / f"train.{side}", folder / f"shortlist.{side}"
        flags = ["--input", text, "--size", "9", "--output", shortlist, "--coverage", folder / "coverage.csv"]
        assert main(["shortlist", *map(str, flags)]) == 0
    texts = [folder / f"train.{side}" for side in ("source", "target")]
    shortlists = [folder / f"shortlist.{side}" for side in ("source", "target")]
    flags = ["--texts", *texts, "--shortlists", *shortlists, "--seed", "1", "--output", folder / "binarized"]
    assert main(["binarize", *map(str, flags)]) == 0
    return folder


def arguments(data: Path, output: Path, **settings: Any) -> list[str]:
    variant = tiny_variant(
        **{"batch": 20, "window": 4, "updates": 30, "evaluate_every": 10, "device": "cpu", **settings}
    )
    sides = ("source", "target")
    flags = ["--settings", variant.to_json(), "--data", data / "binarized", "--threads", 1]
    flags += ["--development", *(data / f"development.{side}" for side in sides)]
    flags += ["--shortlists", *(data / f"shortlist.{side}" for side in sides)]
    flags += ["--checkpoints", output / "checkpoints", "--model", output / "model.safetensors"]
    flags += ["--summary", output / "summary.json", "--metrics", output / "metrics.jsonl"]
    return ["train", *map(str, flags)]


def losses(output: Path) -> list[tuple[Any, ...]]:
    """The metrics less what depends on the clock."""
    records = [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]
    return [(record["updates"], record.get("train_nll"), record.get("development_nll")) for record in records]


class KilledError(Exception):
    pass


def test_a_killed_training_ends_with_the_same_bytes(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for patience in (0, 2):
        settings = {"patience": patience, "checkpoint_minutes": 1e-9, "optimizer": "adam", "learning_rate": 0.01}
        whole, broken = tmp_path / f"whole{patience}", tmp_path / f"broken{patience}"
        assert main(arguments(data, whole, **settings)) == 0
        update = train.Training.update
        for stop in (13, 25):

            def dying(self: train.Training, stop: int = stop, update: Any = update) -> Any:
                if self.state.updates == stop:
                    raise KilledError
                return update(self)

            monkeypatch.setattr(train.Training, "update", dying)
            with pytest.raises(KilledError):
                main(arguments(data, broken, **settings))
        monkeypatch.setattr(train.Training, "update", update)
        assert main(arguments(data, broken, **settings)) == 0
        assert (whole / "model.safetensors").read_bytes() == (broken / "model.safetensors").read_bytes()
        assert losses(whole) == losses(broken)
        assert not (broken / "checkpoints").exists()


def test_it_learns_to_turn_sentences_round(data: Path, tmp_path: Path) -> None:
    settings = {"hidden": 32, "alignment": 32, "embedding": 16, "maxout": 16, "optimizer": "adam"}
    settings |= {"learning_rate": 0.01, "initialization_scale": 0.1, "updates": 800, "evaluate_every": 200}
    seed = int.from_bytes(np.random.default_rng().bytes(3), "little")
    assert main(arguments(data, tmp_path, seed=seed, **settings)) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["updates"] == 800
    assert summary["epochs"] == pytest.approx(800 * 20 / 2000)
    assert summary["development_nll"] < 3.0, f"seed {seed}"  # about 9 without learning


def test_a_variant_goes_on_from_another(data: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(arguments(data, first)) == 0
    flags = ["--initial", str(first / "model.safetensors"), str(first / "summary.json")]
    assert main([*arguments(data, second, continues="tiny"), *flags]) == 0
    assert losses(second)[0][0] == 40
    assert load_model(second / "model.safetensors").updates == 60
    hours = [json.loads((output / "summary.json").read_text())["hours"] for output in (first, second)]
    assert hours[1] > hours[0]
    assert main([*arguments(data, tmp_path / "third"), *flags]) == 1
    assert main(arguments(data, tmp_path / "fourth", continues="tiny")) == 1


def test_patience_keeps_the_best_model(data: Path, tmp_path: Path) -> None:
    """At a learning rate that is far too high the development score does not go on improving."""
    settings = {"optimizer": "adam", "learning_rate": 0.3, "patience": 2, "updates": 500, "evaluate_every": 5}
    assert main(arguments(data, tmp_path, **settings)) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    evaluations = [(nll, updates) for updates, _, nll in losses(tmp_path) if nll is not None]
    best = min(evaluations)
    assert (summary["development_nll"], summary["updates_best"]) == best
    assert summary["updates"] == best[1] + 10 < 500
    assert load_model(tmp_path / "model.safetensors").updates == best[1]


def test_other_settings_or_data_refuse_to_resume(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"checkpoint_minutes": 1e-9}
    monkeypatch.setattr(train.Training, "summary", lambda self: (_ for _ in ()).throw(KilledError))
    with pytest.raises(KilledError):
        main(arguments(data, tmp_path, **settings))
    monkeypatch.undo()
    assert main(arguments(data, tmp_path, learning_rate=0.5, **settings)) == 1
    assert "learning_rate was 1.0, is 0.5" in capsys.readouterr().err


def test_a_damaged_checkpoint_gives_way_to_the_one_before(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"checkpoint_minutes": 1e-9}
    assert main(arguments(data, tmp_path / "whole", **settings)) == 0
    monkeypatch.setattr(train.Training, "summary", lambda self: (_ for _ in ()).throw(KilledError))
    with pytest.raises(KilledError):
        main(arguments(data, tmp_path, **settings))
    monkeypatch.undo()
    latest = tmp_path / "checkpoints" / "latest.pt"
    latest.write_bytes(latest.read_bytes()[:1000])
    assert main(arguments(data, tmp_path, **settings)) == 0
    assert "damaged" in capsys.readouterr().err
    assert (tmp_path / "model.safetensors").read_bytes() == (tmp_path / "whole" / "model.safetensors").read_bytes()


def test_costs_that_are_not_finite_are_skipped_and_then_stop(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = train.Network.summed_nll
    monkeypatch.setattr(train.Network, "summed_nll", lambda self, *batch: plain(self, *batch) * torch.nan)
    assert main(arguments(data, tmp_path)) == 1
    assert "not finite" in capsys.readouterr().err


def test_adadelta_is_the_original_codes() -> None:
    """Section 4 of the recipe: E[g2] first, the step from the new E[g2] and the old E[dx2], then E[dx2]."""
    random = np.random.default_rng(0)
    layer = torch.nn.Linear(3, 4, bias=False, dtype=torch.float64)
    optimizer = make_optimizer(layer, tiny_variant())
    weight, squares, steps = layer.weight.detach().numpy().copy(), np.zeros((4, 3)), np.zeros((4, 3))
    for _ in range(50):
        gradient = random.standard_normal((4, 3))
        squares = 0.95 * squares + 0.05 * gradient**2
        step = np.sqrt(steps + 1e-6) / np.sqrt(squares + 1e-6) * gradient
        steps = 0.95 * steps + 0.05 * step**2
        weight -= step
        layer.weight.grad = torch.from_numpy(gradient)
        optimizer.step()
    np.testing.assert_allclose(layer.weight.detach().numpy(), weight, rtol=1e-10)


def test_cuda_is_refused_in_one_line_where_there_is_none(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(arguments(data, tmp_path, device="cuda")) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_folder_without_checkpoints_starts_afresh(tmp_path: Path) -> None:
    assert read_checkpoint(tmp_path, {}) is None
    (tmp_path / "latest.pt").write_bytes(b"no checkpoint")
    assert read_checkpoint(tmp_path, {}) is None


def test_settings_of_another_training_are_named(data: Path) -> None:
    with pytest.raises(UserError, match="settings"):
        tiny_variant().from_json('{"name": "x", "hiden": 3}')
