"""Where to compute."""

from __future__ import annotations

import torch

from nmt.files import UserError


def choose_device(name: str) -> torch.device:
    """The device of a setting: `auto` is CUDA where there is one. UserError where CUDA is asked for and absent."""
    if name == "cuda" and not torch.cuda.is_available():
        raise UserError("device: cuda is not available here; set device to auto or cpu")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def device_name(device: torch.device) -> str:
    """What the tables call the device: the GPU's name, or the CPU and its threads."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"CPU, {threads} thread{'s' * (threads > 1)}"
