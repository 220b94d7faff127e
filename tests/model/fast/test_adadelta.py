"""Adadelta's kernel against NumPy and the plain steps."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from nmt.model.fast import choice
from nmt.model.fast.kernels import adadelta
from nmt.training.optimizer import Adadelta
from tests.kernels import DEVICE, run, stacks

#: One number, fewer than a program updates, a multiple of 4 and not, and several programs.
SHAPES = ((1,), (7, 9), (40, 30), (3, adadelta.NUMBERS))

types = pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])


@pytest.mark.long
def test_the_kernel_in_the_interpreter() -> None:
    run(__file__, "check_*", TRITON_INTERPRET="1")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_the_kernel_on_the_gpu() -> None:
    run(__file__, "check_*")


@pytest.mark.long
def test_the_kernel_compiles(tmp_path: Path) -> None:
    run(__file__, "compile_*", TRITON_CACHE_DIR=str(tmp_path))


def gradients(number: int) -> list[np.ndarray]:
    """Those of update `number`: some are clipped, and that of update 3 is not finite."""
    random = np.random.default_rng(number)
    drawn = [random.standard_normal(shape) * 10.0 ** (-number % 4 - 3) for shape in SHAPES]
    if number == 3:
        drawn[1][0, 0] = np.nan
    return drawn


def made(dtype: torch.dtype, device: str = DEVICE) -> tuple[list[nn.Parameter], Adadelta]:
    random = np.random.default_rng(1)
    weights = [nn.Parameter(torch.from_numpy(random.standard_normal(shape)).to(device, dtype)) for shape in SHAPES]
    return weights, Adadelta(weights, 0.7, 0.95, 1e-6, clip_norm=0.1)


def step(weights: list[nn.Parameter], optimizer: Adadelta, number: int) -> None:
    for weight, gradient in zip(weights, gradients(number), strict=True):
        weight.grad = torch.from_numpy(gradient).to(weight)
    optimizer.step()


def expected(updates: int) -> list[np.ndarray]:
    """The weights after `updates` in NumPy."""
    weights = [weight.detach().cpu().numpy() for weight in made(torch.float64)[0]]
    squares, deltas = ([np.zeros_like(weight) for weight in weights] for _ in range(2))
    for number in range(updates):
        drawn = gradients(number)
        norm = np.sqrt(sum((gradient**2).sum() for gradient in drawn))
        if np.isfinite(norm):
            for weight, square, delta, gradient in zip(weights, squares, deltas, drawn, strict=True):
                gradient *= min(1, 0.1 / norm)
                square[:] = 0.95 * square + 0.05 * gradient**2
                moved = np.sqrt(delta + 1e-6) / np.sqrt(square + 1e-6) * gradient
                delta[:] = 0.95 * delta + 0.05 * moved**2
                weight -= 0.7 * moved
    return weights


@types
@pytest.mark.parametrize("changing", [False, True])
@pytest.mark.parametrize("switched", [set(), {2, 5}, set(range(8))], ids=["kernel", "both", "plain"])
def check_the_steps(
    switched: set[int], changing: bool, dtype: torch.dtype, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight steps, some of them plain; at every switch the state goes to an optimizer of its own.

    The learning rate is a number, or a tensor whose value may change.
    """
    weights, optimizer = made(dtype)
    called = []
    kernel = adadelta.adadelta
    monkeypatch.setattr(adadelta, "adadelta", lambda *given: called.append(given) or kernel(*given))
    for number in range(8):
        monkeypatch.setattr(choice, "kernels_wanted", lambda _, number=number: number not in switched)
        state = copy.deepcopy(optimizer.state_dict())
        optimizer = Adadelta(weights, 0.7, 0.95, 1e-6, clip_norm=0.1)
        optimizer.load_state_dict(state)
        if changing:
            optimizer.set_learning_rate(torch.tensor(0.7, device=DEVICE, dtype=torch.float64))
        step(weights, optimizer, number)
    kernel_steps = set(range(8)) - switched - ({3} if DEVICE == "cpu" else set())
    assert len(called) == len(kernel_steps) * len(SHAPES)
    for weight, exact in zip(weights, expected(8), strict=True):
        np.testing.assert_allclose(weight.detach().cpu().numpy(), exact, rtol=tolerance, atol=tolerance)
        assert (optimizer.state[weight]["seen"] == 7).all()


@types
def check_a_gradient_that_is_not_finite_changes_nothing(dtype: torch.dtype, tolerance: float) -> None:
    tensors = [torch.rand(70, device=DEVICE, dtype=dtype) for _ in range(3)]
    before = [tensor.clone() for tensor in tensors]
    gradient = torch.tensor([torch.nan, torch.inf], device=DEVICE, dtype=dtype).repeat(35)
    none = torch.zeros((), device=DEVICE, dtype=dtype)
    adadelta.adadelta(tensors[0], gradient, *tensors[1:], none, none, 1.0, 1e-6)
    for tensor, old in zip(tensors, before, strict=True):
        assert torch.equal(tensor, old)


def check_a_parameter_with_gaps_is_updated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "kernels_wanted", lambda _: True)
    whole = torch.zeros(20, device=DEVICE)
    weight = nn.Parameter(whole[::2])
    weight.grad = torch.ones_like(weight)
    Adadelta([weight], 1.0, 0.95, 1e-6, clip_norm=100.0).step()
    assert whole[::2].all()
    assert not whole[1::2].any()


@pytest.mark.skipif(DEVICE == "cpu", reason="no CUDA device")
def check_the_gpu_moves_as_the_cpu() -> None:
    """Three steps, and one that is not finite; the plain steps are those of the CPU."""
    both = [made(torch.float32, device) for device in ("cpu", DEVICE)]
    for number in range(4):
        for weights, optimizer in both:
            step(weights, optimizer, number)
    (weights, optimizer), (others, theirs) = both
    for weight, other in zip(weights, others, strict=True):
        torch.testing.assert_close(other.cpu(), weight, rtol=1e-6, atol=1e-6)
        for name, value in optimizer.state[weight].items():
            torch.testing.assert_close(theirs.state[other][name].cpu(), value, rtol=1e-5, atol=1e-9)


@types
@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("size", [1, 30001, 2**31 + 4])
def compile_the_kernel(
    size: int, capability: int, dtype: torch.dtype, tolerance: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole, none = (torch.empty(shape, dtype=dtype, device="meta") for shape in ((size,), ()))

    def call() -> None:
        for rate in (1.0, none):
            adadelta.adadelta(whole, whole, whole, whole, none, none, rate, 1e-6)

    assert stacks(call, capability, monkeypatch, tmp_path) == {"_adadelta": 0}
