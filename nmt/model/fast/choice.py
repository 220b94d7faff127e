"""A function of plain PyTorch, or its Triton kernel or cuDNN on a GPU: the one place that chooses between them."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor

from nmt.system import device

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(module: str) -> Callable[[Function], Function]:
    """A decorator: on a GPU, the function of the same name in `module` computes instead.

    The device of the first argument, a tensor, decides. The module is imported when it is first needed, because
    importing Triton takes a fifth of a second.
    """

    def choose(plain: Function) -> Function:
        @functools.wraps(plain)
        def either(tensor: Tensor, *others: object) -> object:
            if not kernels_wanted(tensor):
                return plain(tensor, *others)
            return getattr(importlib.import_module(module), plain.__name__)(tensor, *others)

        return either  # type: ignore[return-value]

    return choose


def kernels_wanted(tensor: Tensor) -> bool:
    """Whether Triton kernels handle `tensor`: on a GPU, if Triton is installed and NMT_WITHOUT does not name it."""
    return tensor.is_cuda and "triton" not in device.SWITCHED_OFF and _installed()


def cudnn_wanted(tensor: Tensor) -> bool:
    """Whether cuDNN handles `tensor`: on a GPU, if autograd does not record and NMT_WITHOUT does not name it."""
    return tensor.is_cuda and not torch.is_grad_enabled() and "cudnn" not in device.SWITCHED_OFF


@functools.cache
def _installed() -> bool:
    return importlib.util.find_spec("triton") is not None
