"""A model of a checkpoint: that of a training which ended there, and the checkpoints stay as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.__main__ import main
from nmt.trained import load_trained
from nmt.training import loop
from nmt.training.checkpoint import look_at_checkpoint, write_checkpoint
from nmt.training.greedy import GreedyBLEU
from nmt.training.loop import Training
from tests.training.toy import SIDES, arguments, weights


class KilledError(Exception):
    pass


def kill(toy: Path, output: Path, monkeypatch: pytest.MonkeyPatch, *words: str, at: int = 23, **settings: Any) -> None:
    """A training killed after the update `at`, with checkpoints every 5 updates."""
    plain = Training.checkpoint_due

    def dying(self: Training) -> bool:
        if self.state.updates == at:
            raise KilledError
        return plain(self)

    with monkeypatch.context() as patch:
        patch.setattr(Training, "checkpoint_due", dying)
        with pytest.raises(KilledError):
            main([*arguments(toy, output, checkpoint_every=5, **settings), *words])


def export(toy: Path, output: Path, *more: str) -> list[str]:
    """The command that makes `output`/model of the checkpoints in `output`/checkpoints."""
    flags = ["--shortlists", *(toy / f"shortlist.{side}" for side in SIDES), "--languages", "xa", "xb"]
    flags += ["--checkpoints", output / "checkpoints", "--output", output / "model"]
    return ["export", *map(str, flags), *more]


@pytest.mark.parametrize("settings", [{}, {"attention": "fixed", "alignment": 1000}, {"unit": "lstm"}])
def test_it_is_the_model_of_a_training_that_ended_there(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    """Of the last whole checkpoint; no file of the training changes."""
    killed, ended = tmp_path / "killed", tmp_path / "ended"
    kill(toy, killed, monkeypatch, **settings)
    (killed / "checkpoints" / ".latest.pt.1.partial").write_bytes(b"half a checkp")
    for updates in (20, 15):
        before = {path: path.read_bytes() for path in (killed / "checkpoints").iterdir()}
        assert main(export(toy, killed)) == 0
        assert {path: path.read_bytes() for path in (killed / "checkpoints").iterdir()} == before
        assert main(arguments(toy, ended, updates=updates, **settings)) == 0
        assert weights(killed) == weights(ended)
        found = load_trained(killed / "model")
        assert (found.model.updates, found.languages) == (updates, ("xa", "xb"))
        summary = json.loads((killed / "model" / "summary.json").read_text())
        assert (summary["updates"], summary["finished"]) == (updates, False)
        (killed / "checkpoints" / "latest.pt").write_bytes(b"damaged")


def test_it_can_be_continued(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    killed, second = tmp_path / "killed", tmp_path / "second"
    kill(toy, killed, monkeypatch)
    assert main(export(toy, killed)) == 0
    words = ["--initial", str(killed / "model")]
    assert main([*arguments(toy, second, continues="tiny"), *words]) == 0
    hours = [json.loads((output / "model/summary.json").read_text())["hours"] for output in (killed, second)]
    assert 0 < hours[0] < hours[1]
    capsys.readouterr()
    kill(toy, tmp_path / "third", monkeypatch, *words, at=28, continues="tiny")
    assert main(export(toy, tmp_path / "third")) == 0
    words = ["--initial", str(tmp_path / "third/model")]
    assert main([*arguments(toy, tmp_path / "fourth", continues="tiny"), *words]) == 1
    assert "third/model does not say how long it was trained; name a model" in capsys.readouterr().err


def test_with_a_patience_it_is_the_best_model(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nlls = iter([6.0, 5.0, 7.0, 8.0])
    with monkeypatch.context() as patch:
        patch.setattr(loop, "sentence_nll", lambda model, sources, *_: [next(nlls)] * len(sources))
        kill(toy, tmp_path, monkeypatch, patience=9, evaluate_every=5)
    assert main(export(toy, tmp_path)) == 0
    summary = json.loads((tmp_path / "model" / "summary.json").read_text())
    assert (summary["development_nll"], summary["updates_best"], summary["updates"]) == (5.0, 10, 20)
    assert (summary["pairs_seen_best"], summary["pairs_seen"]) == (200, 400)
    assert main(arguments(toy, tmp_path / "ended", updates=10)) == 0
    assert weights(tmp_path) == weights(tmp_path / "ended")


def test_with_a_patience_that_follows_bleu_it_is_the_best_by_that(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bleus = iter([6.0, 5.0, 7.0, 4.0])
    with monkeypatch.context() as patch:
        patch.setattr(GreedyBLEU, "__call__", lambda *_: next(bleus))
        kill(toy, tmp_path, monkeypatch, patience=9, evaluate_every=5, stop_on="bleu")
    assert main(export(toy, tmp_path)) == 0
    summary = json.loads((tmp_path / "model" / "summary.json").read_text())
    assert (summary["development_bleu"], summary["updates_best"], summary["updates"]) == (7.0, 15, 20)


def test_bfloat16_halves_the_file_and_is_read_as_float32(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill(toy, tmp_path, monkeypatch, hidden=40)
    sizes, models = [], []
    for more in ([], ["--bf16"]):
        assert main(export(toy, tmp_path, *more)) == 0
        sizes.append(len(weights(tmp_path)))
        models.append(load_trained(tmp_path / "model").model)
    assert sizes[1] < 0.6 * sizes[0]
    for exact, rounded in zip(*(model.parameters() for model in models), strict=True):
        assert rounded.dtype == torch.float32
        bits = exact.detach().view(torch.int32)
        halfway = ((bits >> 16) & 1) + 0x7FFF  # round the lower 16 bits to the nearest, ties to even
        assert torch.equal(rounded.detach().view(torch.int32), (bits + halfway) >> 16 << 16)


def test_mistakes_are_one_line(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(export(toy, tmp_path)) == 1
    assert capsys.readouterr().err == (
        f"nmt export: {tmp_path}/checkpoints: no whole checkpoint in it; "
        "name the --checkpoints folder of an unfinished training\n"
    )
    kill(toy, tmp_path, monkeypatch)
    short = tmp_path / "short"
    short.write_text("".join((toy / "shortlist.target").read_text().splitlines(keepends=True)[:-1]))
    capsys.readouterr()
    assert main(export(toy, tmp_path, "--shortlists", str(toy / "shortlist.source"), str(short))) == 1
    assert (
        capsys.readouterr().err == "nmt export: --shortlists: not those of the training; name its own, source first\n"
    )
    assert main(export(toy, tmp_path, "--output", str(tmp_path / "checkpoints" / "model"))) == 1
    assert "checkpoints, which is read; name another output" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()


def test_other_shortlists_of_the_same_size_are_refused(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Swapped, or with words in another order."""
    kill(toy, tmp_path, monkeypatch)
    source, target = (toy / f"shortlist.{side}" for side in SIDES)
    first, second, *words = target.read_text().splitlines(keepends=True)
    (tmp_path / "reordered").write_text("".join([first, second, *reversed(words)]))
    for pair in ((target, source), (source, tmp_path / "reordered")):
        assert main(export(toy, tmp_path, "--shortlists", *map(str, pair))) == 1
        assert capsys.readouterr().err.endswith("--shortlists: not those of the training; name its own, source first\n")
    assert not (tmp_path / "model").exists()


def test_a_model_is_exported_again_from_its_own_vocabulary(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill(toy, tmp_path, monkeypatch)
    assert main(export(toy, tmp_path)) == 0
    before = {path: path.read_bytes() for path in (tmp_path / "model").iterdir()}
    own = [str(tmp_path / "model" / f"{side}.tsv") for side in SIDES]
    assert main(export(toy, tmp_path, "--shortlists", *own)) == 0
    assert {path: path.read_bytes() for path in (tmp_path / "model").iterdir()} == before


@pytest.mark.parametrize("name", ["model.safetensors", "source.tsv", "notes.txt"])
def test_what_is_not_ours_is_kept(
    name: str, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kill(toy, tmp_path, monkeypatch)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / name).write_text("somebody's")
    capsys.readouterr()
    assert main(export(toy, tmp_path)) == 1
    assert f"model: exists and is not a model of this project, because it holds {name}" in capsys.readouterr().err
    assert [path.read_text() for path in (tmp_path / "model").iterdir()] == ["somebody's"]


def test_weights_that_are_not_finite_are_no_model(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kill(toy, tmp_path, monkeypatch)
    found = look_at_checkpoint(tmp_path / "checkpoints")
    next(iter(found.model.values()))[0] = float("nan")
    write_checkpoint(tmp_path / "checkpoints", found)
    assert main(export(toy, tmp_path)) == 1
    assert "its weights are not finite" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()


def test_a_copy_of_a_model(toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(toy, tmp_path, updates=5)) == 0
    model, copy = tmp_path / "model", tmp_path / "copy"
    assert main(["export", "--model", str(model), "--output", str(copy), "--bf16"]) == 0
    exact, rounded = load_trained(model), load_trained(copy)
    assert (rounded.source, rounded.target, rounded.languages) == (exact.source, exact.target, exact.languages)
    for one, other in zip(exact.model.parameters(), rounded.model.parameters(), strict=True):
        assert torch.equal(one.bfloat16().float(), other)
    summaries = [json.loads((folder / "summary.json").read_text()) for folder in (model, copy)]
    assert summaries[0].pop("digests") != summaries[1].pop("digests")
    assert summaries[0] == summaries[1]
    before = {path: path.read_bytes() for path in model.iterdir()}
    for words, message in (
        (["--output", str(model)], "model: is read too; name another output"),
        (["--output", str(copy), "--languages", "en", "fr"], "--model has its own; leave them out"),
    ):
        assert main(["export", "--model", str(model), *words]) == 1
        assert message in capsys.readouterr().err
    assert {path: path.read_bytes() for path in model.iterdir()} == before
    assert main(["export", "--checkpoints", str(tmp_path / "checkpoints"), "--output", str(copy)]) == 1
    assert "both are needed with --checkpoints; name those of the training" in capsys.readouterr().err
