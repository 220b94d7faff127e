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
def test_a_learning_rate_may_be_a_tensor_that_is_filled_anew(name: str) -> None:
    layers = [nn.Linear(3, 2) for _ in range(2)]
    layers[1].load_state_dict(layers[0].state_dict())
    ours, theirs = (make_optimizer(layer.parameters(), tiny_variant(optimizer=name).optimization) for layer in layers)
    rate = torch.empty(())
    ours.set_learning_rate(rate)
    for number in range(8):
        rate.fill_(1 - number / 8)
        theirs.set_learning_rate(1 - number / 8)
        for layer, optimizer in zip(layers, (ours, theirs), strict=True):
            optimizer.zero_grad()
            layer(torch.ones(3) * (number - 4)).square().sum().backward()
            optimizer.step()
    for one, other in zip(*(layer.parameters() for layer in layers), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", ["adadelta", "adam"])
def test_a_gradient_that_is_not_finite_changes_nothing(name: str) -> None:
    model = nn.Linear(3, 2)
    optimizer = make_optimizer(model.parameters(), tiny_variant(optimizer=name).optimization)

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
    optimizer = make_optimizer(layer.parameters(), tiny_variant(clip_norm=1e9).optimization)
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


def reference(updates: list[list[torch.Tensor]]) -> list[np.ndarray]:
    """The weights after Adadelta on dense float64 gradients, clipped together to norm 1; NaN skips an update."""
    weights = [parameter.detach().numpy().copy() for parameter in parameters()]
    squares, deltas = ([np.zeros_like(weight) for weight in weights] for _ in range(2))
    for number in updates:
        dense = [gradient.to_dense().numpy() for gradient in number]
        norm = np.sqrt(sum((gradient**2).sum() for gradient in dense))
        if not np.isfinite(norm):
            continue
        for weight, square, delta, raw in zip(weights, squares, deltas, dense, strict=True):
            gradient = raw / max(1.0, norm)
            square[:] = 0.95 * square + 0.05 * gradient**2
            step = np.sqrt(delta + 1e-6) / np.sqrt(square + 1e-6) * gradient
            delta[:] = 0.95 * delta + 0.05 * step**2
            weight -= step
    return weights


def trained(
    updates: list[list[torch.Tensor]], dense: set[int], loaded: set[int], dtype: torch.dtype = torch.float64
) -> list[nn.Parameter]:
    """The parameters after `updates`, those in `dense` without sparse gradients.

    Before each update in `loaded`, the state goes to an optimizer that has made dense steps of its own.
    """
    weights = parameters(dtype)
    optimizer = Adadelta(weights, 1.0, 0.95, 1e-6, clip_norm=1.0)
    for number, update in enumerate(updates):
        if number in loaded:
            before, state = [weight.detach().clone() for weight in weights], copy.deepcopy(optimizer.state_dict())
            optimizer = Adadelta(weights, 1.0, 0.95, 1e-6, clip_norm=1.0)
            for weight in weights:
                weight.grad = torch.ones_like(weight)
            optimizer.step()
            optimizer.load_state_dict(state)
            for weight, old in zip(weights, before, strict=True):
                weight.data.copy_(old)
        for weight, gradient in zip(weights, update, strict=True):
            weight.grad = (gradient.to_dense() if number in dense else gradient).to(dtype)
        finite = optimizer.step().isfinite()
        if number in dense and finite:
            assert all(bool((state["seen"] == state["steps"]).all()) for state in optimizer.state.values())
    return weights


@pytest.mark.parametrize("loaded", [set(), {30, 60}, {20, 31, 50, 61, 75}], ids=["never", "at the switch", "between"])
@pytest.mark.parametrize("dense", [range(30, 60), [*range(30), *range(60, 90)], range(1, 90, 2)])
def test_sparse_and_dense_steps_may_alternate(dense: range | list[int], loaded: set[int]) -> None:
    """A training that moves between a CPU, where gradients of embeddings are sparse, and a GPU, where they are not."""
    updates = [gradients(number) for number in range(90)]
    for number in (29, 30, 59):
        updates[number][1][0, 0] = float("nan")
    for weight, expected in zip(trained(updates, set(dense), loaded), reference(updates), strict=True):
        np.testing.assert_allclose(weight.detach().numpy(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dense", [set(), set(range(60))], ids=["sparse", "dense"])
def test_loading_a_state_changes_no_bit(dense: set[int]) -> None:
    updates = [gradients(number) for number in range(60)]
    whole, loaded = (trained(updates, dense, at, torch.float32) for at in (set(), {1, 17, 40}))
    for one, other in zip(whole, loaded, strict=True):
        assert torch.equal(one, other)
