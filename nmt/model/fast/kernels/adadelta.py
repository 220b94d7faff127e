"""The kernel of Adadelta's update (`nmt.training.optimizer`): each number is read once and written once.

Within a CUDA graph, a launch for each parameter costs little. One launch for all would need a table of the gradients'
addresses, which differ from graph to graph.
"""

from __future__ import annotations

import math

from torch import Tensor

from nmt.model.fast.kernels import jit, tl, triton

#: Numbers that one program updates.
NUMBERS = 1024
#: Numbers that a thread may read at once, 16 bytes in float32, if the size is a multiple of it.
ALIGNED = 4


@jit
def _adadelta(
    weight: tl.tensor,
    gradient: tl.tensor,
    square: tl.tensor,
    delta: tl.tensor,
    factor: tl.tensor,
    fresh: tl.tensor,
    changing_rate: tl.tensor,
    groups: tl.int64,
    learning_rate: tl.constexpr,
    epsilon: tl.constexpr,
    group: tl.constexpr,
    N: tl.constexpr,
) -> None:
    i = tl.program_id(0).to(tl.int64) * N + tl.arange(0, N)
    inside = i < groups * group
    scale, share = tl.load(factor), tl.load(fresh)
    g = tl.where(scale != 0, scale * tl.load(gradient + i, mask=inside), 0)
    s = tl.load(square + i, mask=inside)
    d = tl.load(delta + i, mask=inside)
    s += share * (g * g - s)
    step = tl.sqrt((d + epsilon) / (s + epsilon)) * g
    tl.store(square + i, s, mask=inside)
    tl.store(delta + i, d + share * (step * step - d), mask=inside)
    step *= learning_rate if changing_rate is None else tl.load(changing_rate)
    tl.store(weight + i, tl.load(weight + i, mask=inside) - step, mask=inside)


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
    changing, fixed = (learning_rate, 0.0) if isinstance(learning_rate, Tensor) else (None, learning_rate)
    compact, gradient, size = weight.contiguous(), gradient.contiguous(), weight.numel()
    group = math.gcd(size, ALIGNED)
    _adadelta[(triton.cdiv(size, NUMBERS),)](
        compact, gradient, square, delta, factor, fresh, changing, size // group, fixed, epsilon, group, NUMBERS
    )
    if compact is not weight:
        weight.copy_(compact)
