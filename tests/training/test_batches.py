"""The order in which training reads its data, and reading ahead."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
import torch

from nmt.system.errors import UserError
from nmt.training.batches import Batches, ahead


class Text:
    """Pairs whose only word is their number, repeated as often as their length says."""

    def __init__(self, source_lengths: list[int], target_lengths: list[int]) -> None:
        self.source_lengths, self.target_lengths = np.array(source_lengths), np.array(target_lengths)

    def source(self, pair: int) -> np.ndarray:
        return np.full(self.source_lengths[pair], pair + 10)

    def target(self, pair: int) -> np.ndarray:
        return np.full(self.target_lengths[pair], pair + 10)


def pairs_of(batch) -> list[int]:
    return (batch.source[:, 0] - 10).tolist()


def test_batches_are_sorted_together_by_the_longer_side_and_wrap_round_at_the_end() -> None:
    text = Text([9, 1, 5, 2, 3, 4, 7], [1, 8, 5, 2, 3, 6, 7])
    batches = Batches(text, maximum_length=50, size=2, sort_batches=2)
    # Sorted together first: pairs 0-3 with longer sides 9, 8, 5, 2; second: pairs 4, 5, 6 and again 0.
    assert [pairs_of(batches[number]) for number in range(4)] == [[3, 2], [1, 0], [4, 5], [6, 0]]
    assert pairs_of(batches[4]) == [3, 4]  # third: pairs 1-4, with 8, 5, 2, 3


def test_the_limit_holds_for_both_sides_and_counts_no_end_of_sentence() -> None:
    batches = Batches(Text([30, 31, 1, 30], [30, 1, 31, 2]), maximum_length=30, size=1, sort_batches=1)
    assert batches.pairs.tolist() == [0, 3]


def test_every_batch_is_full_and_depends_on_its_number_alone() -> None:
    random = np.random.default_rng(0)
    text = Text(random.integers(1, 40, 101).tolist(), random.integers(1, 40, 101).tolist())
    one, other = (Batches(text, 50, size=8, sort_batches=3) for _ in range(2))
    for number in range(20):
        assert len(one[number].source) == 8
    assert torch.equal(one[17].source, other[17].source)


def test_four_bytes_a_pair_are_held_in_memory() -> None:
    assert Batches(Text([5] * 1000, [5] * 1000), maximum_length=5, size=1, sort_batches=1).pairs.nbytes == 4000


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_pinned_batches_are_the_same() -> None:
    batch = Batches(Text([2, 1, 3], [1, 4, 2]), maximum_length=5, size=3, sort_batches=1)[0]
    pinned = batch.pinned()
    assert all(part.is_pinned() for part in pinned)
    for one, other in zip(pinned.to(torch.device("cuda")), batch, strict=True):
        assert torch.equal(one.cpu(), other)


def test_no_pair_within_the_limit_is_an_error() -> None:
    with pytest.raises(UserError, match="maximum_length"):
        Batches(Text([5], [5]), maximum_length=4, size=1, sort_batches=1)


def test_results_come_in_order_each_made_while_the_one_before_is_in_use() -> None:
    made: dict[int, threading.Event] = {number: threading.Event() for number in range(3, 9)}
    makers = set()

    def make(number: int) -> int:
        makers.add(threading.current_thread())
        made[number].set()
        return number * number

    with ahead(make, 3) as results:
        for number in range(3, 7):
            assert next(results) == number * number
            assert made[number + 1].wait(10)
            assert not made[number + 2].is_set()
    assert len(makers) == 1
    assert threading.current_thread() not in makers


def test_an_error_is_raised_where_its_result_is_asked_for() -> None:
    def make(number: int) -> int:
        if number == 2:
            raise ZeroDivisionError
        return number

    with ahead(make, 0) as results:
        assert list(itertools.islice(results, 2)) == [0, 1]
        with pytest.raises(ZeroDivisionError):
            next(results)


def test_no_thread_is_left_behind() -> None:
    before = threading.active_count()
    for _ in range(3):
        with pytest.raises(KeyError), ahead(str, 0) as results:  # noqa: PT012 (the error is the context's)
            next(results)
            raise KeyError
    assert threading.active_count() == before
