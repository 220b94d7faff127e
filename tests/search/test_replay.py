"""Recorded steps of a search, where a stand-in for CUDA graphs records the operations and repeats them."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import Mock
from weakref import ref

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from nmt.model.network import Network
from nmt.search import beam, replay
from nmt.search.beam import PLAIN, REPLAYED, BeamSettings, Hypothesis, pace_of, search
from nmt.search.replay import Recording, replays_of
from nmt.search.step import Beams, Step, tensors
from nmt.system import device
from tests.model.models import kinds, tiny_model
from tests.search.test_beam import Waits, ending, rarely_ending, sources

aten = torch.ops.aten
#: What a graph cannot hold: values that come to the host, sizes that depend on values, tensors made of host values.
FORBIDDEN = {aten._local_scalar_dense, aten.nonzero, aten.masked_select, aten._unique2, aten.lift_fresh}


class Tape(TorchDispatchMode):
    """Records operations, and repeats them on the same memory with the same numbers, as a CUDA graph does."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Callable[..., Any], Any, Any, Any]] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        assert function.overloadpacket not in FORBIDDEN, function
        assert function.overloadpacket != aten.index or all(one is None or one.dtype != torch.bool for one in args[1])
        result = function(*args, **(kwargs or {}))
        self.calls.append((function, args, kwargs or {}, result))
        return result

    def replay(self) -> None:
        for function, args, kwargs, result in self.calls:
            again = function(*args, **kwargs)
            for old, new in zip(*(tree_leaves(one) for one in (result, again)), strict=True):
                if not isinstance(old, Tensor):
                    assert old == new
                elif old.data_ptr() != new.data_ptr():  # neither a view nor an operation in place
                    assert old.shape == new.shape
                    old.copy_(new)


class Recorder:
    """`captured` for tests. It counts the replays of each recording."""

    def __init__(self) -> None:
        self.replays: list[int] = []

    def __call__(self, work: Callable[[], object], device: torch.device) -> Callable[[], None]:
        work()
        number = len(self.replays)
        self.replays.append(0)
        with Tape() as tape:
            work()

        def again() -> None:
            self.replays[number] += 1
            tape.replay()

        return again


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Searches are paced as on a GPU, and steps recorded on a tape."""
    found = Recorder()
    monkeypatch.setattr(replay, "captured", found)
    monkeypatch.setattr(beam, "pace_of", lambda device: REPLAYED)
    return found


def plainly(model: Network, given: list[list[int]], settings: BeamSettings, **options: Any) -> list[list[Hypothesis]]:
    """The search operation by operation, whatever the pace is now."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beam, "pace_of", lambda device: PLAIN)
        return search(model, given, settings, **options)


def assert_equal(found: list[list[Hypothesis]], expected: list[list[Hypothesis]]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        assert [(one.words, one.ended) for one in ours] == [(one.words, one.ended) for one in theirs]
        for one, other in zip(ours, theirs, strict=True):
            assert one.log_probability == pytest.approx(other.log_probability, rel=1e-12)
            assert (one.alignment is None) == (other.alignment is None)
            if one.alignment is not None:
                torch.testing.assert_close(one.alignment, other.alignment)


@kinds
def test_replayed_steps_find_what_plain_ones_do(kind: dict[str, Any], recorder: Recorder) -> None:
    """Of other sentences than were recorded, too."""
    model, settings = ending(tiny_model(**kind)), BeamSettings(4, n_best=4, alignments=True, fallback=False)
    for seed in (1, 2):
        assert_equal(search(model, sources(6, seed), settings), plainly(model, sources(6, seed), settings))
    assert sum(recorder.replays) > 2 * len(recorder.replays)


@pytest.mark.parametrize("width", [1, 12])
@pytest.mark.parametrize("options", [{"forbid_unk": True}, {"minimum_length_ratio": 1.2, "normalize": True}])
def test_replayed_steps_follow_every_option(options: dict[str, Any], width: int, recorder: Recorder) -> None:
    """In wide beams and narrow ones."""
    model, settings = ending(tiny_model()), BeamSettings(width, n_best=width, fallback=False, **options)
    assert_equal(search(model, sources(9), settings), plainly(model, sources(9), settings))
    assert sum(recorder.replays) > 0


@pytest.mark.parametrize("width", [1, 2])
def test_the_fallback_replays_its_searches(width: int, recorder: Recorder) -> None:
    model = rarely_ending()
    settings = BeamSettings(width, forbid_unk=True, n_best=width, alignments=True)
    given = [source for source in sources(9) if len(source) < 8]
    assert_equal(search(model, given, settings), plainly(model, given, settings))
    assert len(recorder.replays) > 3


def test_the_watched_search_replays_its_steps(recorder: Recorder) -> None:
    model, settings = ending(tiny_model(), bias=0.5), BeamSettings(3, fallback=False, alignments=True)
    seen: list[list[Hypothesis]] = [[], []]
    for leaders, run in zip(seen, (search, plainly), strict=True):
        run(model, [[3, 5, 2, 4]], settings, watch=lambda leader, leaders=leaders: bool(leaders.append(leader())))
    assert_equal([seen[0]], [seen[1]])
    assert [one.length for one in seen[0]] == list(range(1, len(seen[0]) + 1))
    assert recorder.replays == [len(seen[0]) - 1]


def test_a_bucket_is_recorded_once(recorder: Recorder) -> None:
    """Of sentences, rows and positions; another option of the step, or newly prepared weights, are other steps."""
    model = ending(tiny_model(), bias=-math.inf)  # all searches are as long as they can be
    settings = BeamSettings(3, fallback=False)

    def recorded(batch: int, words: int, chosen: BeamSettings = settings) -> int:
        before = len(recorder.replays)
        search(model, [[3] * words] * batch, chosen)
        return len(recorder.replays) - before

    assert recorded(4, 7) == 1  # with EOS, 8 positions
    assert [recorded(*one) for one in ((4, 7), (4, 5), (4, 2))] == [0, 0, 0]
    assert [recorded(*one) for one in ((4, 8), (5, 7), (9, 7), (10, 7))] == [1, 1, 1, 0]
    same_step = (replace(settings, n_best=2), replace(settings, normalize=True, minimum_length_ratio=0.1))
    assert [recorded(4, 7, one) for one in same_step] == [0, 0]
    other_step = (replace(settings, width=2), replace(settings, forbid_unk=True), replace(settings, alignments=True))
    assert [recorded(4, 7, one) for one in other_step] == [1, 1, 1]
    model.freeze()
    assert [recorded(4, 7), recorded(4, 7)] == [1, 0]


def test_sentences_leave_when_a_smaller_bucket_holds_the_rest(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not while more than half of the places are needed, and only when the host looks."""
    model, batches = ending(tiny_model(), bias=-math.inf), []
    choose = Step.choose

    def counting(step: Step, sentences: Any, rows: Any) -> Beams:
        batches.append(len(sentences.open))
        return choose(step, sentences, rows)

    monkeypatch.setattr(Step, "choose", counting)
    # Searches end after three times the length, and are seen at the next look, after step 1, 5, 9, ...
    given = [[3] * (length - 1) for length in (1, 1, 1, 2, 3, 3, 5, 5, 9)]
    settings = BeamSettings(2, fallback=False, alignments=True)
    found = search(model, given, settings)
    assert [one.length for (one,) in found] == [3 * (len(source) + 1) for source in given]
    # 9 sentences have 10 places; 6 are left at step 5, 3 at step 9, and 1 at step 17
    assert list(dict.fromkeys(batches)) == [10, 3, 1]
    assert_equal(found, plainly(model, given, settings))


def test_places_and_shapes_stay(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is ended, and whichever sentences come: each tensor of a recording keeps its address and its shape."""
    call, seen = Recording.__call__, {}

    def checked(recording: Recording) -> Beams:
        beams = call(recording)
        places = [(tensor.data_ptr(), tensor.shape) for tensor in tensors(beams)]
        assert len({address for address, _ in places}) == len(places)
        assert seen.setdefault(recording, places) == places
        return beams

    monkeypatch.setattr(Recording, "__call__", checked)
    model = ending(tiny_model(contextualization=8))
    for seed in range(3):
        search(model, sources(8, seed), BeamSettings(4, alignments=True))
    assert len(seen) == len(recorder.replays) > 1


def test_the_host_looks_once_in_several_steps(recorder: Recorder) -> None:
    model = ending(tiny_model(), bias=-math.inf)
    with Waits() as waits:
        ((found,),) = search(model, [[3] * 8], BeamSettings(4, fallback=False))
    assert found.length == 27
    assert waits.count == 1 + math.ceil(26 / REPLAYED.steps)


def test_what_cannot_be_captured_runs_plainly_after_one_warning(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, settings = ending(tiny_model()), BeamSettings(4, n_best=4)
    monkeypatch.setattr(replay, "captured", Mock(side_effect=RuntimeError("operation not permitted\nwhen capturing")))
    for seed in (1, 2):
        assert_equal(search(model, sources(9, seed), settings), plainly(model, sources(9, seed), settings))
    assert capsys.readouterr().err.count("no CUDA graph could be captured") == 1


def test_a_model_takes_its_recordings_with_it(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """And keeps the newest ones only."""
    monkeypatch.setattr(replay, "RECORDINGS", 2)
    model = ending(tiny_model())
    for words in (1, 9, 17, 1):
        search(model, [[3] * words], BeamSettings(2))
    assert len(recorder.replays) == 4
    assert len(replays_of(model)._recordings) == 2
    gone = ref(model)
    del model
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("kind", "switched_off", "expected"),
    [("cpu", "", PLAIN), ("cuda", "", REPLAYED), ("cuda", "triton", REPLAYED), ("cuda", "graphs", PLAIN)],
)
def test_the_device_sets_the_pace(
    kind: str, switched_off: str, expected: beam.Pace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "SWITCHED_OFF", switched_off.split(","))
    assert pace_of(torch.device(kind)) is expected


def test_buckets_are_few_and_little_larger() -> None:
    sizes = [REPLAYED.places(number) for number in range(1, 257)]
    assert all(number <= size <= 1.25 * number for number, size in enumerate(sizes, 1))
    assert len(set(sizes)) == 28
    assert [PLAIN.places(number) for number in (1, 9, 255)] == [1, 9, 255]


def test_a_tape_repeats_what_it_recorded_and_no_host_value_passes() -> None:
    """The stand-in itself: numbers of the host stay those of the recording, and a look at a value is an error."""
    place, steps = torch.zeros(3), [1.0, 2.0]

    def work() -> None:
        place.copy_(torch.cat([place[1:], place[:1] + steps.pop(0)]) * 2)

    again = Recorder()(work, torch.device("cpu"))
    expected = place.clone()
    for _ in range(3):
        again()
        expected = torch.cat([expected[1:], expected[:1] + 2]) * 2
    assert torch.equal(place, expected)
    for peek in (lambda: place.sum().item(), lambda: place[place > 0], lambda: torch.tensor([1.0])):
        with Tape(), pytest.raises(AssertionError):
            peek()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@kinds
def test_graphs_find_what_plain_steps_do(kind: dict[str, Any]) -> None:
    model = ending(tiny_model(**kind)).cuda()
    settings = BeamSettings(5, forbid_unk=True, n_best=5, alignments=True)
    for seed in (1, 2):
        assert_equal(search(model, sources(9, seed), settings), plainly(model, sources(9, seed), settings))
    assert replays_of(model)._recordings
