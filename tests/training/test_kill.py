"""A training in a process of its own that is killed or stopped at random moments."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from nmt.__main__ import main
from nmt.system.stop import STOPPED
from nmt.training import checkpoint
from tests.training.toy import arguments, records, weights
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
SETTINGS = {"updates": 60, "evaluate_every": 20, "checkpoint_every": 1}  # checkpoints take most of the time


@pytest.fixture(scope="module")
def whole(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of an uninterrupted training."""
    output = tmp_path_factory.mktemp("whole")
    assert main(arguments(toy, output, **SETTINGS)) == 0
    return output


def start(toy: Path, output: Path, checkpoints: int = 1) -> subprocess.Popen[str]:
    """Start the training; return once it has written about this many checkpoints, or has ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nmt", *arguments(toy, output, **SETTINGS)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    latest = output / "checkpoints" / "latest.pt"
    for _ in range(checkpoints):
        before = changed(latest)
        wait_until(
            lambda before=before: process.poll() is not None or changed(latest) not in (before, 0),
            "a checkpoint",
            0.001,
        )
    return process


def changed(path: Path) -> int:
    """When the file was last written; 0 if it does not exist."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def kill_again_and_again(toy: Path, output: Path, whole: Path) -> tuple[int, int]:
    """Train with two kills, then to the end; return how many kills hit the training, and how many a checkpoint."""
    landed = writing = 0
    for _ in range(2):
        with start(toy, output, random.randint(1, 20)) as process:
            time.sleep(random.uniform(0, 0.05))  # some checkpoints' time
            process.kill()
            process.communicate()
        landed += process.returncode == -signal.SIGKILL
        writing += any((output / "checkpoints").glob(".*.partial"))
        if process.returncode == 0:
            break
    assert main(arguments(toy, output, **SETTINGS)) == 0
    assert weights(output) == weights(whole)
    assert records(output) == records(whole)
    assert not (output / "checkpoints").exists()
    return landed, writing


def many_rounds(toy: Path, folder: Path, whole: Path, rounds: int) -> None:
    struck = [kill_again_and_again(toy, folder / str(number), whole) for number in range(rounds)]
    landed, writing = map(sum, zip(*struck, strict=True))
    print(f"{landed} kills in {rounds} rounds, {writing} of them while a checkpoint was being written")
    assert landed >= rounds


@pytest.mark.long
def test_killed_at_random_moments_it_ends_with_the_same_bytes(toy: Path, tmp_path: Path, whole: Path) -> None:
    many_rounds(toy, tmp_path, whole, 3)


@pytest.mark.slow
def test_killed_at_random_moments_twenty_times_over(toy: Path, tmp_path: Path, whole: Path) -> None:
    many_rounds(toy, tmp_path, whole, 20)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_stop_it_writes_a_checkpoint_and_says_so(
    toy: Path, tmp_path: Path, whole: Path, number: signal.Signals
) -> None:
    with start(toy, tmp_path) as process:
        process.send_signal(number)
        _, said = process.communicate()
    assert process.returncode == STOPPED
    assert said == (
        f"nmt train: stopped; {tmp_path / 'checkpoints' / 'latest.pt'} is written, the same command resumes from it\n"
    )
    assert main(arguments(toy, tmp_path, **SETTINGS)) == 0
    assert weights(tmp_path) == weights(whole)
    assert records(tmp_path) == records(whole)


def test_a_second_interrupt_of_a_training_leaves_its_last_checkpoint(
    toy: Path, tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = checkpoint.torch.save

    def interrupted(content: Any, file: Any) -> None:
        plain(content, file)
        if content["state"]["updates"] == 31:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(checkpoint.torch, "save", interrupted)
    assert main(arguments(toy, tmp_path, **SETTINGS)) == 130
    monkeypatch.undo()
    assert main(arguments(toy, tmp_path, **SETTINGS)) == 0
    assert weights(tmp_path) == weights(whole)
