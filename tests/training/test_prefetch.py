"""Reading ahead: the next result is ready in time, and neither errors nor threads are lost."""

from __future__ import annotations

import itertools
import threading

import pytest

from nmt.training.prefetch import ahead


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
