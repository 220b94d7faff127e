"""Steps of a search recorded as CUDA graphs, one for each bucket of shapes: a step is then a single launch."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache, partial
from typing import Any
from weakref import WeakKeyDictionary

import torch

from nmt.model.network import Network
from nmt.search.step import Beams, Step, each_tensor, tensors
from nmt.system.errors import warn

RECORDINGS = 64  # kept for each model

#: Held by the search that records and replays: all graphs share their memory, and a bucket has one set of places.
TURN = threading.RLock()


class Recording:
    """A recorded step for beams of certain shapes, with its own places in memory."""

    def __init__(self, step: Step, beams: Beams) -> None:
        self._places: Beams = each_tensor(beams, partial(torch.clone, memory_format=torch.contiguous_format))
        self._replay = captured(lambda: self.fill(step(self._places)), beams.choice.found.device)

    def fill(self, beams: Beams) -> None:
        """Copy `beams` into the places, except what lies there already."""
        for place, new in zip(tensors(self._places), tensors(beams), strict=True):
            if place is not new:
                place.copy_(new)

    def __call__(self) -> Beams:
        """Take a step. The result lies in the places, which the next step overwrites."""
        self._replay()
        return self._places


class Replays:
    """The recordings of a model. Its weights must stay where they are."""

    def __init__(self) -> None:
        self._recordings: dict[Any, Recording] = {}
        self._failed = False

    def enter(self, step: Step, beams: Beams) -> Recording | None:
        """The recording of `step` for beams of these shapes, filled with `beams`, for steps that keep the shapes.

        None, after a warning, if none could be captured: steps then run operation by operation.
        """
        shapes = tuple(tensor.shape for tensor in tensors(beams))
        key = (step.width, step.forbid_unk, step.alignments, step.model.decoder.linear, shapes)
        if key not in self._recordings and not self._failed:
            if len(self._recordings) == RECORDINGS:
                del self._recordings[next(iter(self._recordings))]
            try:
                self._recordings[key] = Recording(step, beams)
            except RuntimeError as error:
                self._failed = True
                warn(f"no CUDA graph could be captured, so the search is slower: {str(error).splitlines()[0]}")
        recording = self._recordings.get(key)
        if recording is not None:
            recording.fill(beams)
        return recording


_REPLAYS: WeakKeyDictionary[Network, Replays] = WeakKeyDictionary()


def replays_of(model: Network) -> Replays:
    """The recordings of `model`, which are kept as long as it is."""
    return _REPLAYS.setdefault(model, Replays())


def captured(work: Callable[[], object], device: torch.device) -> Callable[[], None]:
    """`work` as a CUDA graph, after a call operation by operation: it sets up what cannot be set up within a graph."""
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=_first(device).pool(), capture_error_mode="thread_local"):
        work()
    return graph.replay


@cache
def _first(device: torch.device) -> torch.cuda.CUDAGraph:
    """A graph whose memory all others share, since only one runs at a time.

    It is kept, because PyTorch cannot use such memory again once the last graph in it is gone.
    """
    graph, number = torch.cuda.CUDAGraph(), torch.zeros(1, device=device)
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        number + 1
    return graph
