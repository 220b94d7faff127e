"""Training: it learns, it resumes to the same bytes, and it refuses to mix two trainings."""

from __future__ import annotations

import io
import json
import math
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from nmt import trained
from nmt.__main__ import main
from nmt.corpora.binarize import Bitext
from nmt.corpora.shortlist import Shortlist
from nmt.model.network import Network
from nmt.system import device
from nmt.system.errors import UserError
from nmt.trained import load_model, load_trained
from nmt.training import greedy, loop, train
from nmt.training.batches import Batch, Batches
from nmt.training.checkpoint import DIGEST_BYTES, read_checkpoint
from nmt.training.greedy import GreedyBLEU
from nmt.training.loop import Training
from nmt.training.optimizer import make_optimizer
from nmt.training.update import Update
from tests.conftest import SmallDisk
from tests.model.models import save_trained, tiny_model
from tests.training.toy import SIDES, arguments, records, tiny_variant, weights


def stored_settings(checkpoint: Path) -> dict[str, Any]:
    """The settings that a checkpoint was made with."""
    return torch.load(io.BytesIO(checkpoint.read_bytes()[DIGEST_BYTES:]))["settings"]


class KilledError(Exception):
    pass


def die(*_: Any) -> None:
    raise KilledError


def die_at(monkeypatch: pytest.MonkeyPatch, *updates: int) -> None:
    """Make a training die after each of these updates."""
    plain = Training.checkpoint_due

    def dying(self: Training) -> bool:
        if self.state.updates in updates:
            raise KilledError
        return plain(self)

    monkeypatch.setattr(Training, "checkpoint_due", dying)


@pytest.mark.long
def test_a_killed_training_ends_with_the_same_bytes(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights and records, although the kills fall between two records."""
    adam = {"optimizer": "adam", "learning_rate": 0.01, "patience": 2}
    cooled = {"cooled-adadelta": {"cooldown": 50}, "cooled-adam": adam | {"patience": 0, "cooldown": 50}}
    bleu = {"optimizer": "adam", "learning_rate": 0.05, "patience": 4, "stop_on": "bleu"}
    dropped = {"dropout": 0.3}
    for name, settings in {"adadelta": {}, "adam": adam, **cooled, "bleu": bleu, "dropped": dropped}.items():
        settings |= {"updates": 90, "evaluate_every": 20, "checkpoint_every": 7}
        whole, broken = tmp_path / f"{name}-whole", tmp_path / f"{name}-broken"
        assert main(arguments(toy, whole, **settings)) == 0
        for stop in (13, 35, 64):
            with monkeypatch.context() as patch:
                die_at(patch, stop)
                with pytest.raises(KilledError):
                    main(arguments(toy, broken, **settings))
        assert main(arguments(toy, broken, **settings)) == 0
        assert weights(whole) == weights(broken)
        assert records(whole) == records(broken)
        assert not (broken / "checkpoints").exists()


def test_the_folder_holds_all_that_a_translation_needs(toy: Path, tmp_path: Path) -> None:
    assert main(arguments(toy, tmp_path)) == 0
    folder = tmp_path / "model"
    names = {"model.safetensors", "summary.json", "metrics.jsonl", "source.tsv", "target.tsv"}
    assert {path.name for path in folder.iterdir()} == names
    for side in ("source", "target"):
        assert (folder / f"{side}.tsv").read_bytes() == (toy / f"shortlist.{side}").read_bytes()
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["languages"] == ["xa", "xb"]
    assert (summary["updates"], summary["updates_skipped"], summary["device"]) == (30, 0, "CPU, 1 thread")
    assert load_trained(folder, torch.device("cpu")).model.updates == 30


def test_a_full_disk_costs_no_update_that_is_in_a_checkpoint(
    toy: Path, small_disk: SmallDisk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, broken = small_disk.folder / "whole", small_disk.folder / "broken"
    plain = Training.checkpoint

    def without_room(self: Training) -> None:
        if self.state.updates == 18:
            small_disk.limit(5000)
        plain(self)

    assert main(arguments(toy, whole, checkpoint_every=6)) == 0
    with monkeypatch.context() as patch:
        patch.setattr(Training, "checkpoint", without_room)
        assert main(arguments(toy, broken, checkpoint_every=6)) == 1
    assert "latest.pt: no space left" in capsys.readouterr().err
    small_disk.free()
    found = read_checkpoint(broken / "checkpoints", stored_settings(broken / "checkpoints" / "latest.pt"))
    assert found is not None
    assert found.state.updates == 12
    assert main(arguments(toy, broken, checkpoint_every=6)) == 0
    assert weights(whole) == weights(broken)


@pytest.mark.parametrize(("precision", "warned"), [("bf16", 1), ("float32", 0)])
def test_a_training_in_a_slow_precision_gives_a_warning(
    precision: str,
    warned: int,
    toy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(device, "has_fast_bf16", lambda device: False)
    assert main(arguments(toy, tmp_path, precision=precision, updates=1)) == 0
    assert capfd.readouterr().err.count("many times slower in precision bf16") == warned


def test_a_checkpoint_is_due_by_the_clock_or_by_the_updates(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    monkeypatch.setattr(loop, "write_checkpoint", lambda folder, checkpoint: written.append(checkpoint.state.updates))
    for settings, expected in (
        ({"checkpoint_every": 12}, [12, 24, 30]),
        ({"checkpoint_minutes": 1e-9}, list(range(1, 31))),
        ({}, [30]),
    ):
        written.clear()
        assert main(arguments(toy, tmp_path / str(settings), **settings)) == 0
        assert written == expected


def test_words_are_counted_with_the_end_of_sentence(toy: Path, tmp_path: Path) -> None:
    """One pass over the pairs sees every target word of the text once."""
    assert main(arguments(toy, tmp_path, updates=100, evaluate_every=100)) == 0
    lines = (toy / "train.target").read_text().split("\n")[:-1]
    summary = json.loads((tmp_path / "model" / "summary.json").read_text())
    words = summary["words_per_second"] * summary["hours"] * 3600
    assert words == pytest.approx(sum(len(line.split()) + 1 for line in lines))


@pytest.mark.long
def test_it_learns_to_reverse_sentences(toy: Path, tmp_path: Path) -> None:
    settings = {"hidden": 32, "alignment": 32, "embedding": 16, "maxout": 16, "optimizer": "adam"}
    settings |= {"learning_rate": 0.01, "initialization_scale": 0.1, "updates": 800, "evaluate_every": 200}
    seed = int.from_bytes(np.random.default_rng().bytes(3), "little")
    assert main(arguments(toy, tmp_path, seed=seed, **settings)) == 0
    summary = json.loads((tmp_path / "model" / "summary.json").read_text())
    assert summary["updates"] == 800
    assert summary["development_nll"] < 3.0, f"seed {seed}"  # about 9 without learning


@pytest.mark.parametrize("ends", [4, 12])
@pytest.mark.parametrize(
    "settings", [{}, {"optimizer": "adam", "learning_rate": 0.3, "patience": 1, "updates": 500, "evaluate_every": 5}]
)
def test_ended_early_it_leaves_a_model_and_goes_on_to_the_same_bytes(
    toy: Path, tmp_path: Path, settings: dict[str, Any], ends: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The early model is that of a training with a smaller cap, and its score counts for no patience."""
    whole, short, broken = tmp_path / "whole", tmp_path / "short", tmp_path / "broken"
    command = arguments(toy, broken, **settings)
    for _ in range(ends):
        assert main([*command, "--minutes", "1e-9"]) == 0  # one update each
    assert f"tiny: ended early, after update {ends} of " in capsys.readouterr().err
    assert main(arguments(toy, short, **settings | {"updates": ends, "patience": 0})) == 0
    summary = json.loads((broken / "model" / "summary.json").read_text())
    assert (summary["updates"], summary["finished"]) == (ends, False)
    if not settings:
        assert weights(broken) == weights(short)
        assert records(broken) == records(short)
        shutil.copytree(broken / "model", tmp_path / "alone" / "model")
        assert main([*arguments(toy, tmp_path / "alone"), "--minutes", "1e-9"]) == 0
        assert "ended early, after update 1 of " in capsys.readouterr().err  # it is not taken for a finished one
    assert main(command) == 0
    assert main(arguments(toy, whole, **settings)) == 0
    assert weights(broken) == weights(whole)
    assert records(broken) == records(whole)
    assert not (broken / "checkpoints").exists()
    assert json.loads((broken / "model" / "summary.json").read_text())["finished"]
    capsys.readouterr()
    assert main([*command, "--minutes", "1e-9"]) == 0
    assert "to train again" in capsys.readouterr().err


@pytest.mark.parametrize("minutes", ["0", "-1", "nan"])
def test_minutes_must_be_positive(toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], minutes: str) -> None:
    assert main([*arguments(toy, tmp_path), "--minutes", minutes]) == 1
    assert capsys.readouterr().err == f"nmt train: --minutes {minutes}: must be more than 0\n"


def test_a_variant_continues_another(toy: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(arguments(toy, first)) == 0
    flags = ["--initial", str(first / "model")]
    assert main([*arguments(toy, second, continues="tiny", batch=10, maximum_length=3), *flags]) == 0
    assert records(second)[0]["updates"] == 40
    assert load_model(second / "model" / "model.safetensors").updates == 60
    one, other = (json.loads((output / "model" / "summary.json").read_text()) for output in (first, second))
    assert other["hours"] > one["hours"]
    assert (one["pairs_seen"], other["pairs_seen"]) == (30 * 20, 30 * 20 + 30 * 10)
    pairs, short = (len(Batches(Bitext(toy / "binarized"), longest, 10, 1).pairs) for longest in (50, 3))
    assert short < pairs
    assert (one["passes"], other["passes"]) == pytest.approx((600 / pairs, 600 / pairs + 300 / short))
    assert main([*arguments(toy, tmp_path / "third"), *flags]) == 1
    assert main(arguments(toy, tmp_path / "fourth", continues="tiny")) == 1
    earlier = {name: value for name, value in one.items() if not name.startswith(("pairs", "passes"))}
    (first / "model" / "summary.json").write_text(json.dumps(earlier))  # of an earlier version
    assert main([*arguments(toy, tmp_path / "fifth", continues="tiny"), *flags]) == 0
    summary = json.loads((tmp_path / "fifth" / "model" / "summary.json").read_text())
    assert (summary["pairs_seen"], summary["passes"]) == (None, None)


@pytest.mark.parametrize("optimizer", [torch.optim.Adadelta, torch.optim.Adam])
def test_a_cooldown_is_pytorchs_schedule_over_the_variants_own_updates(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, optimizer: type[torch.optim.Optimizer]
) -> None:
    """Update for update, in a training that continues another."""
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(arguments(toy, first)) == 0
    adam = optimizer is torch.optim.Adam
    settings = {"optimizer": "adam" if adam else "adadelta", "learning_rate": 0.01 if adam else 0.7}
    cooled: list[list[torch.Tensor]] = []
    plain = Update.__call__

    def watched(self: Update, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        result = plain(self, batch)
        cooled.append([weight.detach().clone() for weight in self.optimizer.param_groups[0]["params"]])
        return result

    monkeypatch.setattr(Update, "__call__", watched)
    command = arguments(toy, second, continues="tiny", updates=25, cooldown=10, **settings)
    assert main([*command, "--initial", str(first / "model")]) == 0

    model = load_model(first / "model" / "model.safetensors")
    batches = Batches(Bitext(toy / "binarized"), 50, 20, 4)
    own = {} if adam else {"rho": 0.95, "eps": 1e-6}
    optimization = optimizer(model.ordered_parameters(), lr=settings["learning_rate"], **own)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimization, lambda done: min(1.0, (25 - done) / 10))
    assert len(cooled) == 25
    for number, ours in enumerate(cooled):
        optimization.zero_grad()
        model.summed_nll(*batches[30 + number]).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimization.step()
        schedule.step()
        for one, other in zip(ours, model.ordered_parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
    assert schedule.get_last_lr() == [0.0]


def test_patience_keeps_the_best_model(toy: Path, tmp_path: Path) -> None:
    """At a learning rate that is far too high, the development score soon stops improving."""
    settings = {"optimizer": "adam", "learning_rate": 0.3, "patience": 2, "updates": 500, "evaluate_every": 5}
    assert main(arguments(toy, tmp_path, **settings)) == 0
    summary = json.loads((tmp_path / "model" / "summary.json").read_text())
    evaluations = [
        (record["development_nll"], record["updates"]) for record in records(tmp_path) if "development_nll" in record
    ]
    best = min(evaluations)
    assert (summary["development_nll"], summary["updates_best"]) == best
    assert summary["updates"] == best[1] + 10 < 500
    assert (summary["pairs_seen"], summary["pairs_seen_best"]) == (20 * summary["updates"], 20 * best[1])
    assert load_model(tmp_path / "model" / "model.safetensors").updates == best[1]


def test_patience_follows_bleu_where_the_training_stops_on_it(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two with equal BLEU the likelier is better; a model without a finite NLL is never the best."""
    nlls, bleus = [9.0, 8.0, math.inf, 7.0, 6.0, 7.5, 5.0], [0.0, 0.0, 30.0, 20.0, 19.0, 20.0, 19.5]
    expected: dict[str, list[float | None]] = {"development_nll": [*nlls], "development_bleu": [*bleus]}
    with monkeypatch.context() as patch:
        patch.setattr(loop, "sentence_nll", lambda model, sources, *_: [nlls.pop(0)] * len(sources))
        patch.setattr(GreedyBLEU, "__call__", lambda *_: bleus.pop(0))
        assert main(arguments(toy, tmp_path, stop_on="bleu", patience=3, evaluate_every=5, updates=50)) == 0
    summary = json.loads((tmp_path / "model" / "summary.json").read_text())
    best = {"development_nll": 7.0, "development_bleu": 20.0, "updates_best": 20, "updates": 35}
    assert {name: summary[name] for name in best} == best
    expected["development_nll"][2] = None
    scores = [record for record in records(tmp_path) if "development_bleu" in record]
    assert {name: [score[name] for score in scores] for name in expected} == expected
    assert main(arguments(toy, tmp_path / "ended", updates=20)) == 0
    assert weights(tmp_path) == weights(tmp_path / "ended")


def test_a_training_that_stops_on_the_likelihood_translates_nothing(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(greedy, "GreedyBLEU")
    assert main(arguments(toy, tmp_path, patience=2)) == 0
    assert "development_bleu" not in json.loads((tmp_path / "model" / "summary.json").read_text())
    assert not any("development_bleu" in record for record in records(tmp_path))


def test_other_settings_refuse_to_resume(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        die_at(patch, 15)
        with pytest.raises(KilledError):
            main(arguments(toy, tmp_path, checkpoint_every=5))
    assert main(arguments(toy, tmp_path, checkpoint_every=5, learning_rate=0.5)) == 1
    assert "learning_rate was 1.0, is 0.5" in capsys.readouterr().err
    assert main(arguments(toy, tmp_path, checkpoint_every=0, checkpoint_minutes=3.0, label="other")) == 0


@pytest.mark.parametrize(
    ("option", "folder", "said"),
    [
        ("--checkpoints", "mine", "mine: exists and is not a folder of checkpoints, because it holds thesis.tex"),
        ("--checkpoints", "toy/binarized", "toy/binarized: is read too; name another output"),
        ("--checkpoints", "model", "model: named for two outputs"),
        ("--output", "checkpoints/model", "checkpoints, which is read; name another output"),
        ("--output", "toy/train.source", "train.source: a file; name a folder"),
    ],
)
def test_a_folder_that_would_be_lost_is_refused(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, folder: str, said: str
) -> None:
    shutil.copytree(toy, tmp_path / "toy")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("years of work")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert main([*arguments(tmp_path / "toy", tmp_path), option, str(tmp_path / folder)]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_what_is_trained_already_is_not_trained_again(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(toy, tmp_path)) == 0
    before = (tmp_path / "model/summary.json").read_bytes()
    capsys.readouterr()
    assert main(arguments(toy, tmp_path)) == 0
    said = f"tiny: {tmp_path / 'model'} holds the model that these settings give; delete it to train again\n"
    assert capsys.readouterr().err == said
    assert (tmp_path / "model/summary.json").read_bytes() == before  # with its measured seconds
    assert main(arguments(toy, tmp_path, seed=2)) == 0
    assert (tmp_path / "model/summary.json").read_bytes() != before
    with monkeypatch.context() as patch:
        patch.setattr(trained, "save_model", die)
        with pytest.raises(KilledError):
            main(arguments(toy, tmp_path, checkpoint_every=7))
    capsys.readouterr()
    assert main(arguments(toy, tmp_path, seed=2, checkpoint_every=7)) == 0  # its model was whole all the time
    assert capsys.readouterr().err == said


def test_a_model_gets_other_languages_without_a_training(toy: Path, tmp_path: Path) -> None:
    assert main(arguments(toy, tmp_path)) == 0
    before = weights(tmp_path)
    (tmp_path / "model/metrics.jsonl").unlink()
    words = arguments(toy, tmp_path)
    words[words.index("xb")] = "xc"
    assert main(words) == 0
    assert load_trained(tmp_path / "model").languages == ("xa", "xc")
    assert weights(tmp_path) == before


def test_a_model_gets_another_seed_that_it_does_not_use_without_a_training(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So learning curves find the model that it continues by its seed."""
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(arguments(toy, first)) == 0
    for seed in (1, 2):
        assert main([*arguments(toy, second, continues="tiny", seed=seed), "--initial", str(first / "model")]) == 0
        assert json.loads((second / "model/summary.json").read_text())["seed"] == seed
    assert "holds the model that these settings give" in capsys.readouterr().err


def test_another_initial_model_refuses_to_resume(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(arguments(toy, first)) == 0
    command = [*arguments(toy, second, continues="tiny", checkpoint_every=5), "--initial", str(first / "model")]
    with monkeypatch.context() as patch:
        die_at(patch, 45)
        with pytest.raises(KilledError):
            main(command)
    kept = tmp_path / "kept"
    shutil.copytree(first / "model", kept)
    assert main(arguments(toy, first, seed=2)) == 0
    assert main(command) == 1
    assert "initial was " in capsys.readouterr().err
    shutil.copytree(kept, first / "model", dirs_exist_ok=True)
    assert main(command) == 0


class Spoilt:
    """A training whose costs are not finite at some updates."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *updates: int) -> None:
        self.updates, self.count = updates, 0
        self.plain = Network.summed_nll
        monkeypatch.setattr(Network, "summed_nll", lambda model, *batch: self.cost(model, *batch))

    def cost(self, model: Network, *batch: torch.Tensor) -> torch.Tensor:
        self.count += 1
        return self.plain(model, *batch) * (torch.nan if self.count in self.updates else 1.0)


def test_costs_that_are_not_finite_are_skipped_and_counted(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    spoilt = [2, 3, 11, *range(40, 58)]  # 18 in a row, across a record
    with monkeypatch.context() as patch:
        Spoilt(patch, *spoilt)
        assert main(arguments(toy, whole, updates=80, checkpoint_every=15)) == 0
    said = [line for line in capsys.readouterr().err.split("\n") if "skipped" in line]
    assert [int(line.split("update ")[1].split()[0]) for line in said] == spoilt
    assert json.loads((whole / "model" / "summary.json").read_text())["updates_skipped"] == len(spoilt)
    figures = [record for record in records(whole) if record["updates"] in (40, 50) and "train_nll" in record]
    assert [record["train_nll"] is None for record in figures] == [False, True]

    with monkeypatch.context() as patch:
        Spoilt(patch, *spoilt)
        die_at(patch, 46)
        with pytest.raises(KilledError):
            main(arguments(toy, broken, updates=80, checkpoint_every=15))
    with monkeypatch.context() as patch:
        Spoilt(patch, *(update - 45 for update in spoilt))
        assert main(arguments(toy, broken, updates=80, checkpoint_every=15)) == 0
    assert weights(whole) == weights(broken)
    assert records(whole) == records(broken)
    assert json.loads((broken / "model" / "summary.json").read_text())["updates_skipped"] == len(spoilt)


@pytest.mark.parametrize("patience", [0, 2])
@pytest.mark.parametrize("nll", [math.inf, math.nan])
def test_a_model_without_a_finite_development_nll_is_an_error(
    toy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    patience: int,
    nll: float,
) -> None:
    monkeypatch.setattr(loop, "sentence_nll", lambda model, sources, *_: [nll, *[1.0] * (len(sources) - 1)])
    assert main(arguments(toy, tmp_path, patience=patience)) == 1
    last = capsys.readouterr().err.strip().split("\n")[-1]
    assert last == (
        f"nmt train: tiny: the development NLL after update {20 if patience else 30} is not finite; remove "
        f"{tmp_path}/checkpoints and train again with a lower learning_rate or initialization_scale"
    )
    assert not (tmp_path / "model").exists()
    figures = [json.loads(line) for line in (tmp_path / "checkpoints" / "metrics.jsonl").read_text().split("\n")[:-1]]
    assert {figure["development_nll"] for figure in figures if "development_nll" in figure} == {None}


def test_a_best_model_from_before_the_divergence_is_kept(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlls = iter([5.0, math.nan, math.nan])
    monkeypatch.setattr(loop, "sentence_nll", lambda model, sources, *_: [next(nlls)] * len(sources))
    assert main(arguments(toy, tmp_path, patience=2)) == 0
    summary = json.loads((tmp_path / "model" / "summary.json").read_text())
    assert (summary["development_nll"], summary["updates_best"], summary["updates"]) == (5.0, 10, 30)


@pytest.mark.parametrize("change", ["swapped", "permuted", "smaller", "larger"])
def test_other_shortlists_than_those_of_the_text_are_refused(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    sides = [Shortlist.read(toy / f"shortlist.{side}").symbols for side in ("source", "target")]
    source, target = {
        "swapped": sides[::-1],
        "permuted": [sides[0], (*sides[1][:2], *sides[1][:1:-1])],
        "smaller": [sides[0], sides[1][:-1]],
        "larger": [sides[0], (*sides[1], "more")],
    }[change]
    paths = [tmp_path / name for name in ("source", "target")]
    for path, symbols in zip(paths, (source, target), strict=True):
        Shortlist(symbols, (1,) * len(symbols)).write(path)
    assert main([*arguments(toy, tmp_path), "--shortlists", *map(str, paths)]) == 1
    wrong = "source" if change == "swapped" else "target"
    assert capsys.readouterr().err == (
        f"nmt train: {tmp_path / wrong}: not the shortlist of the {wrong} side of {toy}/binarized; name its own\n"
    )


def test_a_model_of_other_shortlists_is_not_continued(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor one that is damaged."""
    words = [*arguments(toy, tmp_path, continues="tiny"), "--initial", str(tmp_path / "first")]
    save_trained(tmp_path / "first", tiny_model(dtype=torch.float32))
    assert main(words) == 1
    assert capsys.readouterr().err == (
        f"nmt train: --shortlists, --codes: not those of the model {tmp_path}/first; name its own\n"
    )
    (tmp_path / "first" / "model.safetensors").write_bytes(b"")
    assert main(words) == 1
    assert "model.safetensors: damaged or replaced" in capsys.readouterr().err


def test_a_model_of_another_architecture_is_not_continued(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(toy, tmp_path / "first", updates=2)) == 0
    words = arguments(toy, tmp_path, continues="tiny", hidden=9)
    assert main([*words, "--initial", str(tmp_path / "first" / "model")]) == 1
    assert "is not this variant's; name another\n" in capsys.readouterr().err
    fixed = {"updates": 2, "attention": "fixed"}
    assert main(arguments(toy, tmp_path / "fixed", **fixed)) == 0
    words = arguments(toy, tmp_path, continues="tiny", **fixed, alignment=9)  # of which it has none
    assert main([*words, "--initial", str(tmp_path / "fixed" / "model")]) == 0


def test_a_training_that_cannot_write_its_model_goes_on_from_its_end(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has written no other checkpoint, and does no update again."""
    with monkeypatch.context() as patch:
        patch.setattr(train, "write_trained", lambda *_: (_ for _ in ()).throw(UserError("no space left")))
        assert main(arguments(toy, tmp_path)) == 1
    with monkeypatch.context() as patch:
        patch.setattr(Update, "__call__", lambda *_: pytest.fail("an update"))
        assert main(arguments(toy, tmp_path)) == 0
    assert main(arguments(toy, tmp_path / "whole")) == 0
    assert weights(tmp_path) == weights(tmp_path / "whole")
    assert not (tmp_path / "checkpoints").exists()


def test_the_last_checkpoint_is_kept_where_the_model_may_be_lost(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when Snakemake ends before it has noted that the job is done, and deletes what the job has written."""
    words = [*arguments(toy, tmp_path, checkpoint_every=7), "--code", "one"]
    assert main(words) == 0
    whole = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["latest.pt"]
    shutil.rmtree(tmp_path / "model")
    monkeypatch.setattr(Update, "__call__", lambda *_: pytest.fail("an update"))
    assert main(words) == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()} == whole


def test_a_shortlist_that_changes_meanwhile_is_not_the_models(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = [tmp_path / side for side in SIDES]
    for path, side in zip(own, SIDES, strict=True):
        path.write_bytes((toy / f"shortlist.{side}").read_bytes())
    plain = train.write_trained

    def late(*given: Any) -> None:
        own[0].write_text("<eos>\t1\n<unk>\t1\nother\t1\n")
        plain(*given)

    monkeypatch.setattr(train, "write_trained", late)
    assert main([*arguments(toy, tmp_path), "--shortlists", *map(str, own)]) == 0
    assert (tmp_path / "model" / "source.tsv").read_bytes() == (toy / "shortlist.source").read_bytes()


def test_an_empty_model_is_trained_again(toy: Path, tmp_path: Path) -> None:
    assert main(arguments(toy, tmp_path)) == 0
    whole = weights(tmp_path)
    (tmp_path / "model" / "model.safetensors").write_bytes(b"")
    assert main(arguments(toy, tmp_path)) == 0
    assert weights(tmp_path) == whole


def test_a_clock_may_stand_still(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: 1.0))
    assert main(arguments(toy, tmp_path)) == 0
    assert json.loads((tmp_path / "model" / "summary.json").read_text())["words_per_second"] is None


@pytest.mark.parametrize("output", ["checkpoints/model", "."])
def test_model_and_checkpoints_are_apart(
    output: str, toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments(toy, tmp_path), "--output", str(tmp_path / output)]) == 1
    assert "which is read; name another output" in capsys.readouterr().err


def test_checkpoints_have_a_folder_with_a_name(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*arguments(toy, tmp_path.parent / "other"), "--checkpoints", "."]) == 1
    assert capsys.readouterr().err == "nmt train: .: has no name for the lock beside it; name a folder in it\n"


def test_a_model_does_not_replace_the_working_folder(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert main([*arguments(toy, tmp_path), "--output", "."]) == 1
    assert ".: cannot be replaced as a whole; name a folder in it" in capsys.readouterr().err


def test_after_a_change_of_the_text_the_training_starts_anew(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the documents promise of a file that was mended; the state is kept until the new training has ended."""
    with monkeypatch.context() as patch:
        die_at(patch, 23)
        with pytest.raises(KilledError):
            main(arguments(toy, tmp_path, checkpoint_every=5))
    mended = [tmp_path / f"development.{side}" for side in SIDES]
    for path in mended:
        path.write_text("".join((toy / path.name).read_text().splitlines(keepends=True)[1:]))
    words = [*arguments(toy, tmp_path, checkpoint_every=5), "--development", *map(str, mended)]
    with monkeypatch.context() as patch:
        die_at(patch, 3)
        with pytest.raises(KilledError):
            main(words)
    assert "made from other text (development), and renamed to former.pt" in capsys.readouterr().err
    assert (tmp_path / "checkpoints" / "former.pt").exists()
    assert main(words) == 0
    assert not (tmp_path / "checkpoints").exists()


@pytest.mark.parametrize("every", [0, 10])
def test_too_many_in_a_row_stop_the_training_and_say_what_helps(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], every: int
) -> None:
    with monkeypatch.context() as patch:
        Spoilt(patch, *range(12, 40))
        assert main(arguments(toy, tmp_path, updates=80, checkpoint_every=every)) == 1
    last = capsys.readouterr().err.strip().split("\n")[-1]
    assert "20 updates in a row were not finite" in last
    latest = tmp_path / "checkpoints" / "latest.pt"
    assert f"delete latest.pt and previous.pt in {latest.parent} and start again with a lower learning_rate" in last
    if every:
        good = read_checkpoint(latest.parent, stored_settings(latest))
        assert good is not None
        assert all(weight.isfinite().all() for weight in good.model.values())
    shutil.rmtree(latest.parent)
    assert main(arguments(toy, tmp_path, updates=80, learning_rate=0.5)) == 0


def test_an_optimizers_state_goes_to_the_device_of_the_model() -> None:
    """A checkpoint is read to the CPU; the meta device stands for a GPU."""
    for name in ("adadelta", "adam"):
        optimization = tiny_variant(optimizer=name).optimization
        layers = [torch.nn.Linear(3, 2), torch.nn.Linear(3, 2, device="meta")]
        optimizers = [make_optimizer(layer.parameters(), optimization) for layer in layers]
        layers[0](torch.ones(3)).sum().backward()
        optimizers[0].step()
        optimizers[1].load_state_dict(optimizers[0].state_dict())
        states = optimizers[1].state_dict()["state"].values()
        assert {value.device.type for state in states for value in state.values()} == {"meta"}


def test_optimizers_may_be_captured_in_a_cuda_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """During a capture, PyTorch refuses optimizers that do not support it; here it believes that one is going on."""
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: torch.device("cuda"))
    monkeypatch.setattr(torch.accelerator, "current_stream", lambda: SimpleNamespace(is_capturing=lambda: True))
    for name in ("adadelta", "adam"):
        layer = torch.nn.Linear(3, 2)
        layer(torch.ones(3)).sum().backward()
        before = layer.weight.detach().clone()
        make_optimizer(layer.parameters(), tiny_variant(optimizer=name).optimization).step()
        assert not torch.equal(layer.weight, before)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_killed_training_resumes_on_a_gpu(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"device": "cuda", "updates": 90, "checkpoint_every": 7}
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert main(arguments(toy, whole, **settings)) == 0
    with monkeypatch.context() as patch:
        die_at(patch, 64)
        with pytest.raises(KilledError):
            main(arguments(toy, broken, **settings))
    assert main(arguments(toy, broken, **settings)) == 0
    for one, other in zip(records(broken), records(whole), strict=True):
        assert one == pytest.approx(other, rel=1e-3)


def test_cuda_is_refused_in_one_line_where_there_is_none(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(arguments(toy, tmp_path, device="cuda")) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_part_of_gpu_computation_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "SWITCHED_OFF", ["triton", "graph"])
    with pytest.raises(UserError, match=r"^NMT_WITHOUT: graph: name graphs, triton, cudnn, or several"):
        device.choose_device("cpu")


def test_settings_of_another_training_are_named(toy: Path) -> None:
    with pytest.raises(UserError, match="settings"):
        tiny_variant().from_json('{"name": "x", "hiden": 3}')
