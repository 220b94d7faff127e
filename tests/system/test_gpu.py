"""Processes claim GPUs, which need not exist, and steps compute on the GPU that they claimed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from nmt.system import device, gpu

ROOT = Path(__file__).parents[2]
PROGRAM = "import sys; from nmt.system.gpu import claim; print(claim(sys.argv[1:]), flush=True); sys.stdin.read()"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files of this process and of those it starts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


@contextmanager
def process(*names: str) -> Iterator[subprocess.Popen[str]]:
    """A process that claims one of these GPUs, prints its number, and lives as long as the context."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", PROGRAM, *names]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as started:
        try:
            yield started
        finally:
            started.kill()


def said(started: subprocess.Popen[str]) -> int:
    assert started.stdout is not None
    return int(started.stdout.readline())


def test_processes_that_start_together_claim_different_gpus(folder: Path) -> None:
    with ExitStack() as stack:
        started = [stack.enter_context(process("a", "b", "c", "d")) for _ in range(4)]
        assert sorted(map(said, started)) == [0, 1, 2, 3]


def test_a_gpu_is_free_again_when_its_process_is_killed(folder: Path) -> None:
    with process("a", "b") as first, process("a", "b") as second:
        numbers = said(first), said(second)
        assert sorted(numbers) == [0, 1]
        first.kill()
        first.wait()
        with process("a", "b") as third:
            assert said(third) == numbers[0]


def test_a_pipe_in_the_place_of_a_lock_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "nmt-gpu-a.0.lock")
    with process("a") as one:
        assert said(one) == 0


def test_more_processes_than_gpus_share_them_evenly_and_say_so(folder: Path) -> None:
    with ExitStack() as stack:
        for expected in (0, 1, 0, 1, 0):
            last = stack.enter_context(process("a", "b"))
            assert said(last) == expected
        assert last.communicate()[1] == (
            "nmt: warning: all 2 GPUs are taken; GPU 0 is shared with 2 other processes of this project\n"
        )


def test_gpus_are_told_apart_by_name_not_by_number(folder: Path) -> None:
    with ExitStack() as stack:
        taken = [said(stack.enter_context(process(*names))) for names in ("ab", "bac", "ac")]
        assert taken == [0, 0, 1]


def test_the_first_gpu_is_used_if_nothing_can_be_locked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "nmt-gpu-a.0.lock").symlink_to(folder / "elsewhere")
    assert gpu.claim(["a", "b"]) == 0
    said = capsys.readouterr().err
    assert said.startswith(f"nmt: warning: {folder}: ")
    assert said.count("\n") == 1
    assert not (folder / "elsewhere").exists()


@pytest.fixture
def gpus(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Pretend that PyTorch sees two GPUs; returns the list of GPUs that were made the current one."""
    current: list[int] = []
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    monkeypatch.setattr(device, "own_gpu", device.own_gpu.__wrapped__)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: SimpleNamespace(uuid=f"u{number}"))
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    return current


def test_a_step_computes_on_the_gpu_that_it_claimed(gpus: list[int]) -> None:
    with process("u0") as other:
        assert said(other) == 0
        assert device.choose_device("auto") == torch.device("cuda", 1)
        assert gpus == [1]
        assert device.choose_device("cpu") == torch.device("cpu")


def test_a_single_gpu_and_one_assigned_by_torchrun_are_not_claimed(
    gpus: list[int], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert device.choose_device("cuda") == torch.device("cuda")
    monkeypatch.delenv("LOCAL_RANK")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert device.choose_device("cuda") == torch.device("cuda")
    assert gpus == []
    assert list(folder.iterdir()) == []
