"""The device and the threads to compute with."""

from __future__ import annotations

import argparse
import ctypes
import os
from contextlib import suppress
from functools import cache

import torch

from nmt.system.errors import UserError, warn
from nmt.system.gpu import claim

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # of <malloc.h>
PARTS = ("graphs", "triton", "cudnn")
#: Those of PARTS, features of GPU computation, that NMT_WITHOUT switches off, to find out which one fails.
SWITCHED_OFF = [part.strip() for part in os.environ.get("NMT_WITHOUT", "").split(",")]


def prepare(arguments: argparse.Namespace) -> torch.device:
    """Set the threads and return the device that the options name."""
    set_threads(arguments.threads)
    keep_memory()
    return choose_device(arguments.device)


def set_threads(threads: int | None) -> None:
    """Use this number of CPU threads; None leaves PyTorch's default, one for each core."""
    if threads is not None:
        torch.set_num_threads(threads)


@cache
def survive_forks() -> None:
    """Let a process that forks off this one use a single CPU thread: it would wait forever for the others."""
    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


def keep_memory() -> None:
    """Make glibc keep freed memory for the next allocation.

    Otherwise it returns tensors to the system and requests fresh pages for the next ones, which costs a tenth of the
    time of an update.
    """
    with suppress(OSError, AttributeError):  # the libraries of other systems have no such settings
        library = ctypes.CDLL("libc.so.6")
        library.mallopt(M_MMAP_MAX, 0)
        library.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


def choose_device(name: str) -> torch.device:
    """The device for a setting: `auto` is CUDA if there is a GPU; with several GPUs, this process claims one.

    Raises UserError if CUDA is requested and not available, or if NMT_WITHOUT names no part of GPU computation.
    """
    for part in SWITCHED_OFF:
        if part not in ("", *PARTS):
            raise UserError(f"NMT_WITHOUT: {part}: name {', '.join(PARTS)}, or several, separated by commas")
    if name == "cuda" and not torch.cuda.is_available():
        raise UserError("device: cuda is not available here; set device to auto or cpu")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return own_gpu() if name == "cuda" else torch.device(name)


@cache
def own_gpu() -> torch.device:
    """The GPU that this process claims; without a number if there is only one or torchrun assigns it."""
    gpus = range(torch.cuda.device_count())
    if len(gpus) < 2 or "LOCAL_RANK" in os.environ:
        return torch.device("cuda")
    number = claim([str(torch.cuda.get_device_properties(gpu).uuid) for gpu in gpus])
    torch.cuda.set_device(number)
    return torch.device("cuda", number)


def has_fast_bf16(device: torch.device) -> bool:
    """Whether `device` has fast products in bfloat16: GPUs do, and CPUs with AVX-512 or bfloat16 instructions."""
    return device.type != "cpu" or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def warn_if_slow(precision: str, device: torch.device) -> None:
    """Warn if `precision` is "bf16" and `device` is many times slower in it than in float32."""
    if precision == "bf16" and not has_fast_bf16(device):
        warn("this processor is many times slower in precision bf16 than in float32; use float32 here")


def device_name(device: torch.device) -> str:
    """The device's name in tables: that of the GPU, or the CPU with its number of threads."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"CPU, {threads} thread{'s' * (threads > 1)}"
