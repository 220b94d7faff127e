"""Where to compute."""

from __future__ import annotations

import argparse
import ctypes
import os
from contextlib import suppress
from functools import cache

import torch

from nmt.system.files import UserError
from nmt.system.gpu import claim

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # of <malloc.h>


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options --device and --threads of a step that runs a model."""
    parser.add_argument(
        "--device",
        default="auto",
        choices=("auto", "cpu", "cuda"),
        help="where to compute (auto: on CUDA where there is a GPU)",
    )
    parser.add_argument("--threads", type=int, help="CPU threads (one a core)")


def prepare(arguments: argparse.Namespace) -> torch.device:
    """The device of these options, with the threads set."""
    set_threads(arguments.threads)
    keep_memory()
    return choose_device(arguments.device)


def set_threads(threads: int | None) -> None:
    """Use so many CPU threads, of None as many as there are cores."""
    if threads is not None:
        if threads < 1:
            raise UserError(f"--threads {threads}: must be 1 or more")
        torch.set_num_threads(threads)


def keep_memory() -> None:
    """Have glibc keep what is freed for the next request.

    It would give tensors back to the system, which hands out fresh pages for the next ones: a tenth of an update.
    """
    with suppress(OSError, AttributeError):  # other systems' libraries have no such settings
        library = ctypes.CDLL("libc.so.6")
        library.mallopt(M_MMAP_MAX, 0)
        library.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


def choose_device(name: str) -> torch.device:
    """The device of a setting: `auto` is CUDA where there is one, and of several GPUs one that is this process's own.

    Raises UserError where CUDA is asked for and absent.
    """
    if name == "cuda" and not torch.cuda.is_available():
        raise UserError("device: cuda is not available here; set device to auto or cpu")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return own_gpu() if name == "cuda" else torch.device(name)


@cache
def own_gpu() -> torch.device:
    """The GPU that this process takes of several; without a number where there is one, or torchrun says which."""
    gpus = range(torch.cuda.device_count())
    if len(gpus) < 2 or "LOCAL_RANK" in os.environ:
        return torch.device("cuda")
    number = claim([str(torch.cuda.get_device_properties(gpu).uuid) for gpu in gpus])
    torch.cuda.set_device(number)
    return torch.device("cuda", number)


def device_name(device: torch.device) -> str:
    """What the tables call the device: the GPU's name, or the CPU and its threads."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"CPU, {threads} thread{'s' * (threads > 1)}"
