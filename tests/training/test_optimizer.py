"""The optimizers, against PyTorch's own."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch import nn

from nmt.training.optimizer import Adadelta, make_optimizer
from tests.training.toy import tiny_variant


def parameters(dtype: torch.dtype = torch.float64) -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(1)
    return [nn.Parameter(torch.randn(*shape, generator=generator, dtype=dtype)) for shape in ((50, 7), (13, 5), (9,))]


def gradients(number: int, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    """Gradients of update `number`: sparse for the first parameter, some rows twice; some of them very large."""
    generator = torch.Generator().manual_seed(number)
    scale = 10.0 ** (number % 4 - 2)
    rows = torch.randint(50, (1, 6), generator=generator)
    values = torch.randn(6, 7, generator=generator, dtype=dtype) * scale
    sparse = torch.sparse_coo_tensor(rows, values, (50, 7), check_invariants=True)
    return [sparse, *(torch.randn(*shape, generator=generator, dtype=dtype) * scale for shape in ((13, 5), (9,)))]


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-11), (torch.float32, 1e-5)])
def test_lazy_adadelta_is_adadelta(dtype: torch.dtype, tolerance: float) -> None:
    ours, theirs = parameters(dtype), parameters(dtype)
    optimizer = Adadelta(ours, 1.0, 0.95, 1e-6, clip_norm=1.0)
    reference = torch.optim.Adadelta(theirs, 1.0, 0.95, 1e-6)
    for number in range(1000):
        dense = [gradient.to_dense() for gradient in gradients(number, dtype)]
        norm = torch.cat([gradient.flatten() for gradient in dense]).norm()
        for parameter, gradient in zip(theirs, dense, strict=True):
            parameter.grad = gradient / max(1.0, norm)
        for parameter, gradient in zip(ours, gradients(number, dtype), strict=True):
            parameter.grad = gradient
        reference.step()
        torch.testing.assert_close(optimizer.step(), norm)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["adadelta", "adam"])
def test_a_gradient_that_is_not_finite_changes_nothing(name: str) -> None:
    model = nn.Linear(3, 2)
    optimizer = make_optimizer(model, tiny_variant(optimizer=name).optimization)

    def step(value: float) -> bool:
        """Whether a step with this number in the gradient changes anything."""
        before = copy.deepcopy([model.state_dict(), *optimizer.state_dict()["state"].values()])
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        next(model.parameters()).grad[0, 0] = value
        norm = optimizer.step()
        assert norm.isfinite() == torch.tensor(value).isfinite()
        after = [model.state_dict(), *optimizer.state_dict()["state"].values()]
        return len(before) < len(after) or any(
            not torch.equal(old[key], new[key]) for old, new in zip(before, after, strict=True) for key in old
        )

    assert step(1.0)
    assert not step(float("nan"))
    assert not step(float("inf"))
    assert step(1.0)


def test_adadelta_is_the_original_codes() -> None:
    """First E[g2], then the step from the new E[g2] and the old E[dx2], then E[dx2]."""
    random = np.random.default_rng(0)
    layer = torch.nn.Linear(3, 4, bias=False, dtype=torch.float64)
    optimizer = make_optimizer(layer, tiny_variant(clip_norm=1e9).optimization)
    weight, squares, steps = layer.weight.detach().numpy().copy(), np.zeros((4, 3)), np.zeros((4, 3))
    for _ in range(50):
        gradient = random.standard_normal((4, 3))
        squares = 0.95 * squares + 0.05 * gradient**2
        step = np.sqrt(steps + 1e-6) / np.sqrt(squares + 1e-6) * gradient
        steps = 0.95 * steps + 0.05 * step**2
        weight -= step
        layer.weight.grad = torch.from_numpy(gradient)
        optimizer.step()
    np.testing.assert_allclose(layer.weight.detach().numpy(), weight, rtol=1e-10)
