"""The optimizers: Adadelta as in Appendix B.2, and Adam. Both clip the norm of the gradient as part of their step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from nmt.model.fast.choice import kernel
from nmt.settings.variant import Optimization

CHUNK = 1 << 18  # numbers of a parameter that are updated together, few enough for a CPU's cache


class Adadelta(torch.optim.Optimizer):
    """Adadelta (Zeiler, 2012) on the gradient g, scaled down to norm `clip_norm` as in the original code.

    E[g^2] = rho E[g^2] + (1 - rho) g^2,  d = sqrt(E[d^2] + eps) / sqrt(E[g^2] + eps) g,
    E[d^2] = rho E[d^2] + (1 - rho) d^2,  w = w - learning_rate d.

    With a sparse gradient, rows without one are skipped: they would not move. Their averages decay at their next
    gradient, or at the first step with a dense one. A gradient that is not finite changes nothing.
    """

    def __init__(
        self, parameters: Iterable[nn.Parameter], learning_rate: float, rho: float, epsilon: float, clip_norm: float
    ) -> None:
        settings = {"learning_rate": learning_rate, "rho": rho, "epsilon": epsilon, "clip_norm": clip_norm}
        super().__init__(parameters, settings)
        for parameter in self._parameters():
            self.state[parameter] = {
                "square": torch.zeros_like(parameter),
                "delta": torch.zeros_like(parameter),
                "steps": parameter.new_zeros(()),  # PyTorch leaves a "step" on the CPU when it loads a state
                "seen": parameter.new_zeros(len(parameter)),  # the last step that each row's averages include
            }
        self._whole: set[Tensor] = set()  # the parameters whose last step was dense, so that no row lacks decay

    def _parameters(self) -> list[nn.Parameter]:
        return self.param_groups[0]["params"]

    @torch.no_grad()
    def step(self, closure: Any = None) -> Tensor:  # type: ignore[override]
        """Update the parameters; return the norm of the gradient before clipping, 0-dim, without waiting for it."""
        assert closure is None
        group = self.param_groups[0]
        gradients = {parameter: parameter.grad for parameter in self._parameters() if parameter.grad is not None}
        rows = {p: gradient.coalesce() for p, gradient in gradients.items() if gradient.is_sparse}
        values = [rows[p].values() if p in rows else gradient for p, gradient in gradients.items()]
        norm = nn.utils.get_total_norm(values)
        finite = norm.isfinite()
        if norm.device.type == "cpu" and not finite:  # asking another device would force a synchronization
            return norm
        factor = torch.where(finite, group["clip_norm"] / norm.clamp(min=group["clip_norm"]), 0.0)
        fresh = finite.to(norm.dtype) * (1 - group["rho"])
        for parameter, gradient in zip(gradients, values, strict=True):
            if parameter in rows:
                self._update_rows(parameter, rows[parameter].indices()[0], gradient, factor, finite, fresh)
            else:
                self._update_whole(parameter, gradient, factor, finite, fresh)
        return norm

    def set_learning_rate(self, rate: float | Tensor) -> None:
        """Use `rate` from the next step on; a 0-dim tensor may change its value without another call."""
        self.param_groups[0]["learning_rate"] = rate

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state; its last step may have been sparse."""
        super().load_state_dict(state_dict)
        self._whole.clear()

    def _update_whole(self, parameter: Tensor, gradient: Tensor, factor: Tensor, finite: Tensor, fresh: Tensor) -> None:
        """Update all rows of a parameter, after decaying the averages that lack decay."""
        state = self.state[parameter]
        if parameter not in self._whole:
            decay = self._missed_decay(state, slice(None))
            for average in (state["square"], state["delta"]):
                average.view(len(decay), -1).mul_(decay)
            self._whole.add(parameter)
        whole = [tensor.view(-1) for tensor in (parameter, gradient, state["square"], state["delta"])]
        size = CHUNK if parameter.device.type == "cpu" else parameter.numel()
        for first in range(0, parameter.numel(), size):
            weight, part, square, delta = (tensor[first : first + size] for tensor in whole)
            self._update(weight, part, square, delta, factor, fresh)
        state["steps"] += finite
        state["seen"].copy_(state["steps"])

    def _update_rows(
        self, parameter: Tensor, rows: Tensor, gradient: Tensor, factor: Tensor, finite: Tensor, fresh: Tensor
    ) -> None:
        """Update only `rows` (N,) of a parameter; its other rows have no gradient."""
        state = self.state[parameter]
        self._whole.discard(parameter)
        decay = self._missed_decay(state, rows)
        square, delta = state["square"][rows].mul_(decay), state["delta"][rows].mul_(decay)
        weight = parameter[rows]
        self._update(weight, gradient, square, delta, factor, fresh)
        for whole, part in ((parameter, weight), (state["square"], square), (state["delta"], delta)):
            whole[rows] = part
        state["steps"] += finite
        state["seen"][rows] = state["steps"]

    def _missed_decay(self, state: dict[str, Tensor], rows: Tensor | slice) -> Tensor:
        """The decay (N, 1) that the averages of `rows` lack."""
        missed = (state["steps"] - state["seen"][rows]).unsqueeze(-1)
        decay: Tensor = self.param_groups[0]["rho"] ** missed
        return decay

    def _update(
        self, weight: Tensor, gradient: Tensor, square: Tensor, delta: Tensor, factor: Tensor, fresh: Tensor
    ) -> None:
        """Update a parameter, or rows of it; `factor` is 0 if the gradient is not finite."""
        group = self.param_groups[0]
        adadelta(weight, gradient, square, delta, factor, fresh, group["learning_rate"], group["epsilon"])


@kernel("nmt.model.fast.kernels.adadelta")
def adadelta(
    weight: Tensor,
    gradient: Tensor,
    square: Tensor,
    delta: Tensor,
    factor: Tensor,
    fresh: Tensor,
    learning_rate: float | Tensor,
    epsilon: float,
) -> None:
    """Update `weight`, `square` = E[g^2] and `delta` = E[d^2], contiguous and of one shape, by the step of `Adadelta`.

    g is `factor` times `gradient`, or 0 if `factor` is 0, whatever the gradient holds; `fresh` is the share of g^2 and
    d^2 in their averages. Both are 0-dim on the device, as is a learning rate that changes.
    """
    if weight.device.type != "cpu":
        gradient = torch.where(factor != 0, gradient, 0.0)
    gradient = gradient * factor
    square.lerp_(gradient * gradient, fresh)
    step = torch.add(delta, epsilon).div_(square + epsilon).sqrt_().mul_(gradient)
    delta.lerp_(step * step, fresh)
    if isinstance(learning_rate, Tensor):
        weight.sub_(step.mul_(learning_rate))
    else:
        weight.sub_(step, alpha=learning_rate)


class Adam(torch.optim.Adam):
    """Adam with a step like Adadelta's: it clips, returns the norm, and changes nothing if the norm is not finite."""

    def __init__(self, parameters: Iterable[nn.Parameter], learning_rate: float, clip_norm: float) -> None:
        super().__init__(parameters, learning_rate, fused=True, capturable=True)
        self.clip_norm = clip_norm
        self._warned_capturable_if_run_uncaptured = True  # no warning: the first update of a shape is not captured

    @torch.no_grad()
    def step(self, closure: Any = None) -> Tensor:  # type: ignore[override]
        """Update the parameters; return the norm of the gradient before clipping, 0-dim, without waiting for it."""
        norm = nn.utils.clip_grad_norm_(self.param_groups[0]["params"], self.clip_norm)
        self.found_inf = (~norm.isfinite()).float()  # tells the fused kernel to skip the step
        super().step(closure)
        return norm

    def set_learning_rate(self, rate: float | Tensor) -> None:
        """Use `rate` from the next step on; a 0-dim tensor may change its value without another call."""
        self.param_groups[0]["lr"] = rate


def make_optimizer(parameters: Iterable[nn.Parameter], optimization: Optimization) -> Adadelta | Adam:
    """The optimizer of `parameters` that `optimization` names."""
    rate, clip_norm = optimization.learning_rate, optimization.clip_norm
    if optimization.optimizer == "adadelta":
        return Adadelta(parameters, rate, optimization.rho, optimization.epsilon, clip_norm)
    return Adam(parameters, rate, clip_norm)


def scheduled_rate(optimization: Optimization, left: float) -> float:
    """The learning rate of the update with which `left` are left: in the cooldown, proportional to them."""
    cooldown = optimization.cooldown
    return optimization.learning_rate * (min(1.0, left / cooldown) if cooldown else 1.0)
