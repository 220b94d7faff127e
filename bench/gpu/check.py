"""The fast model beside the readable one, and what a GPU does in another way beside the plain way."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import product

import torch
from torch import Tensor

from bench import step
from bench.gpu.measurement import ATTENTIONS, WARM_UP, Bench, Job, Row
from bench.machine import TYPES
from nmt.settings.variant import Optimization
from nmt.training.parallel import Processes
from nmt.training.update import Update, make_update


def check(bench: Bench) -> Iterator[Job]:
    """The fast model beside the readable one in float64, cuDNN's LSTM beside ours, and captured updates and steps of a
    search beside ones operation by operation.
    """
    for kind in ATTENTIONS:
        labels = {"model": kind, "of": "fast, readable", "precision": "float64"}
        yield Job(labels, partial(fast_or_readable, bench, kind))
    for kind, precision in product(ATTENTIONS, TYPES):
        labels = {"model": kind, "of": "graphs, none", "precision": precision}
        yield Job(labels, partial(graphs_or_none, bench, kind, precision))
    yield Job({"model": "LSTM encoder", "of": "cuDNN, loop", "precision": "float32"}, partial(cudnn_or_loop, bench))
    for precision, batch in product(TYPES, bench.searched):
        labels = {"model": "RNNsearch", "of": f"replayed search, plain, batch {batch}", "precision": precision}
        yield Job(labels, partial(replayed_or_plain, bench, precision, batch))


def cudnn_or_loop(bench: Bench) -> list[Row]:
    """How far the annotations of an LSTM encoder are apart, relative to the largest; on a CPU both are the loop's."""
    one, other = (read() for read in step.encoders(bench.network(unit="lstm"), bench.batch).values())
    return [{"apart": distance(one, other, other)}]


def replayed_or_plain(bench: Bench, precision: str, batch: int) -> list[Row]:
    """How many continuations of recorded steps of a search differ."""
    if not bench.gpu:
        return [{"where": "no graphs on a CPU"}]
    model = bench.network()
    model.freeze(precision)
    apart = step.replayed_apart(model, batch)
    return [{"apart": float(apart), "same": apart == 0}]


def fast_or_readable(bench: Bench, kind: str) -> list[Row]:
    """How far the costs and the gradients are apart, relative to the largest number of a gradient."""
    batch, costs, gradients = bench.small_batch(), [], []
    for implementation in ("fast", "readable"):
        model = bench.network(kind, implementation).double()
        cost = model.summed_nll(*batch)
        cost.backward()
        costs.append(cost.item())
        gradients.append(
            {path: parameter.grad for path, parameter in model.named_parameters() if parameter.grad is not None}
        )
    fast, readable = gradients
    apart = {path: distance(fast[path], readable[path], readable[path]) for path in readable}
    worst = max(apart, key=lambda path: apart[path])
    return [{"cost": costs[0], "cost_apart": abs(costs[0] / costs[1] - 1), "apart": apart[worst], "where": worst}]


def graphs_or_none(bench: Bench, kind: str, precision: str) -> list[Row]:
    """How far parameters with and without graphs are apart after the same updates, relative to how far they moved."""
    if not bench.gpu:
        return [{"where": "no graphs on a CPU"}]
    optimization = Optimization(updates=1, precision=precision)
    batches = [bench.small_batch()] * WARM_UP + [bench.small_batch(shift=1)]
    begin = {path: parameter.detach().clone() for path, parameter in bench.network(kind).named_parameters()}
    models = [bench.network(kind) for _ in range(2)]
    updates = [
        make_update(models[0], optimization, bench.device, Processes()),
        Update(models[1], optimization, bench.device),
    ]
    costs = [[update(batch)[0].item() for batch in batches] for update in updates]
    graphed, plain = (dict(model.named_parameters()) for model in models)
    apart = {path: distance(graphed[path], plain[path], plain[path] - begin[path]) for path in begin}
    worst = max(apart, key=lambda path: apart[path])
    cost_apart = max(abs(one / other - 1) for one, other in zip(*costs, strict=True))
    same = all(torch.equal(graphed[path], plain[path]) for path in begin)
    graphs = len(getattr(updates[0], "graphs", ()))  # none where the capture has failed or is switched off
    row = {"cost": costs[0][-1], "cost_apart": cost_apart, "apart": apart[worst], "same": same, "where": worst}
    return [{**row, "graphs": graphs}]


def distance(one: Tensor, other: Tensor, scale: Tensor) -> float:
    """The largest difference, relative to the largest number of `scale`; infinite if a number is not finite."""
    largest = (one - other).abs().max()
    relative = largest / scale.abs().max()
    return float(relative.nan_to_num(nan=math.inf, posinf=math.inf)) if largest != 0 else 0.0
