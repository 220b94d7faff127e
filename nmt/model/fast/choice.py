"""Whether Triton's kernels compute with a tensor, found without importing Triton, which takes a fifth of a second."""

from __future__ import annotations

import functools
import importlib.util
import os

from torch import Tensor

#: The parts of computing on a GPU that NMT_WITHOUT switches off, to find out what fails: "graphs", "triton" or both.
SWITCHED_OFF = os.environ.get("NMT_WITHOUT", "").split(",")


def kernels_wanted(tensor: Tensor) -> bool:
    """Whether the kernels compute with `tensor`: on a GPU, if Triton is installed and not switched off."""
    return tensor.is_cuda and "triton" not in SWITCHED_OFF and _installed()


@functools.cache
def _installed() -> bool:
    return importlib.util.find_spec("triton") is not None
