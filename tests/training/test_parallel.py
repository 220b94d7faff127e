"""Two processes, started by torchrun and joined by gloo, train the same model as one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import torch

from nmt.__main__ import main
from nmt.corpora.padding import pad
from nmt.settings.variant import Variant
from nmt.system.errors import UserError
from nmt.training import checkpoint, loop, train
from nmt.training.batches import Batch
from nmt.training.parallel import Processes, joined
from tests.training.toy import arguments, records
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def torchrun(*module: str) -> subprocess.Popen[str]:
    """Start a module in two processes."""
    return subprocess.Popen(
        [*TORCHRUN, "-m", *module],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    """Wait for a process that must succeed to end; return what it printed."""
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return said


def assert_close(output: Path, expected: Path) -> None:
    """The same records and weights, to rounding."""
    ours, theirs = (safetensors.numpy.load_file(one / "model" / "model.safetensors") for one in (output, expected))
    for name, weight in theirs.items():
        np.testing.assert_allclose(ours[name], weight, rtol=1e-4, atol=1e-5, err_msg=name)
    for one, other in zip(records(output), records(expected), strict=True):
        assert one == pytest.approx(other, rel=1e-4)


@pytest.mark.parametrize("stray", [{"RANK": "0"}, {"RANK": "0", "WORLD_SIZE": "2"}, {"RANK": "x", "WORLD_SIZE": "y"}])
def test_what_a_cluster_leaves_in_the_environment_is_not_torchrun(
    monkeypatch: pytest.MonkeyPatch, stray: dict[str, str]
) -> None:
    for name, value in stray.items():
        monkeypatch.setenv(name, value)
    with joined(torch.device("cpu")) as processes:
        assert processes == Processes()


@pytest.mark.parametrize("said", ["[gloo/transport/tcp/pair.cc:547] Connection closed by peer", "another mistake"])
def test_the_end_of_another_process_is_one_line(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """As where the disk of the first one is full."""
    for name, value in (("get_rank", 1), ("get_world_size", 2), ("init_process_group", None)):
        monkeypatch.setattr(torch.distributed, name, lambda *_, value=value: value)
    monkeypatch.setattr(torch.distributed, "is_torchelastic_launched", lambda: True)
    monkeypatch.setattr(torch.distributed, "destroy_process_group", lambda: None)
    for name in ("WORLD_SIZE", "RANK", "LOCAL_RANK"):
        monkeypatch.setenv(name, "2")
    kind, message = (UserError, "process of this training has ended") if "gloo" in said else (RuntimeError, said)
    with pytest.raises(kind, match=message), joined(torch.device("cpu")):
        raise RuntimeError(said)


def test_under_torchrun_a_second_training_does_not_wait(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other processes would wait for it, and end in half an hour."""
    monkeypatch.setattr(train, "joined", lambda device: nullcontext(Processes(rank=0, world=2)))
    monkeypatch.setattr(checkpoint, "warn", pytest.fail)  # that it waits
    with checkpoint.locked(tmp_path / "checkpoints"):
        assert main(arguments(toy, tmp_path)) == 1
    assert capsys.readouterr().err.endswith("another process trains there; wait for it to end\n")


class KilledError(Exception):
    pass


@pytest.mark.long
def test_every_variants_update_is_that_of_one_process() -> None:
    finish(torchrun("tests.training.updates_in_parallel"))


@pytest.mark.long
@pytest.mark.parametrize(
    "settings",
    [
        {"stop_on": "bleu", "dropout": 0.2},
        {"optimizer": "adam", "learning_rate": 0.01, "loss": "mean", "patience": 2, "batch": 21},
    ],
)
def test_two_processes_learn_what_one_does(toy: Path, tmp_path: Path, settings: dict[str, Any]) -> None:
    """With sparse gradients of the embeddings (Adadelta) and with dense ones; a batch may not be even."""
    process = torchrun("nmt", *arguments(toy, tmp_path / "two", **settings))
    assert main(arguments(toy, tmp_path / "one", **settings)) == 0
    said = finish(process)
    assert_close(tmp_path / "two", tmp_path / "one")
    summaries = [json.loads((tmp_path / name / "model" / "summary.json").read_text()) for name in ("two", "one")]
    assert [summary["device"] for summary in summaries] == ["2 x CPU, 1 thread", "CPU, 1 thread"]
    assert said.count("30 updates in") == 1  # only the first process shows progress
    assert not (tmp_path / "two" / "checkpoints").exists()


@pytest.mark.long
def test_stopped_as_two_processes_it_resumes_as_one(toy: Path, tmp_path: Path) -> None:
    settings = {"updates": 200, "evaluate_every": 100, "checkpoint_every": 20}
    process = torchrun("nmt", *arguments(toy, tmp_path / "broken", **settings))
    latest = tmp_path / "broken" / "checkpoints" / "latest.pt"
    wait_until(latest.exists, "a checkpoint", 0.01, lambda: process.poll() is None)
    process.send_signal(signal.SIGTERM)  # torchrun sends it on to both
    _, said = process.communicate(timeout=120)
    assert process.returncode != 0
    assert said.count("nmt train: stopped") == said.count(f"nmt train: stopped; {latest} is written") == 1
    assert main(arguments(toy, tmp_path / "broken", **settings)) == 0
    assert main(arguments(toy, tmp_path / "whole", **settings)) == 0
    assert_close(tmp_path / "broken", tmp_path / "whole")


@pytest.mark.long
def test_ended_early_as_two_processes_it_goes_on_as_one(toy: Path, tmp_path: Path) -> None:
    """Each process has a clock of its own; a process that went on alone would wait for the other for ever."""
    settings = {"updates": 60, "evaluate_every": 30}
    finish(torchrun("nmt", *arguments(toy, tmp_path / "broken", **settings), "--minutes", "0.001"))
    summary = json.loads((tmp_path / "broken" / "model" / "summary.json").read_text())
    assert 0 < summary["updates"] < 60
    assert main(arguments(toy, tmp_path / "broken", **settings)) == 0
    assert main(arguments(toy, tmp_path / "whole", **settings)) == 0
    assert_close(tmp_path / "broken", tmp_path / "whole")


@pytest.mark.long
def test_killed_as_one_process_it_resumes_as_two(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dying(training: loop.Training) -> bool:
        if training.state.updates == 15:
            raise KilledError
        return training.state.updates == 13

    monkeypatch.setattr(loop.Training, "checkpoint_due", dying)
    with pytest.raises(KilledError):
        main(arguments(toy, tmp_path / "broken"))
    monkeypatch.undo()
    process = torchrun("nmt", *arguments(toy, tmp_path / "broken"))
    assert main(arguments(toy, tmp_path / "whole")) == 0
    finish(process)
    assert_close(tmp_path / "broken", tmp_path / "whole")


def test_rows_are_shared_out_in_turn() -> None:
    batch = Batch(*pad([[number] * 3 for number in range(2, 9)]), *pad([[number] for number in range(2, 9)]))
    shares = [Processes(rank, 3).share(batch) for rank in range(3)]
    assert [share.source[:, 0].tolist() for share in shares] == [[2, 5, 8], [3, 6], [4, 7]]
    assert all(torch.equal(share.target[:, 0], share.source[:, 0]) for share in shares)
    assert Processes().share(batch) is batch


def test_more_processes_than_rows_are_refused(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parser = train.argparse.ArgumentParser()
    train.add_arguments(parser)
    parsed = parser.parse_args(arguments(toy, tmp_path, batch=2)[1:])
    monkeypatch.setattr(loop, "make_update", lambda *words: None)
    with pytest.raises(UserError, match="a batch of 2 for 3 processes"):
        train.set_up(parsed, Variant.from_json(parsed.settings), Processes(2, 3))


@pytest.mark.parametrize("size", ["junk", "", "9" * 5000])
def test_what_torchrun_does_not_set_is_one_line(monkeypatch: pytest.MonkeyPatch, size: str) -> None:
    for name, value in (("TORCHELASTIC_RUN_ID", "1"), ("RANK", "0"), ("LOCAL_RANK", "0"), ("WORLD_SIZE", size)):
        monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=r"^WORLD_SIZE: not a number, as torchrun sets it"), joined(torch.device("cpu")):
        pass
