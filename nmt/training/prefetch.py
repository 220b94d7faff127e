"""Reading ahead: what the next update needs is made while this one runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Made = TypeVar("Made")


@contextmanager
def ahead(make: Callable[[int], Made], first: int) -> Iterator[Iterator[Made]]:
    """Yield `make(first)`, `make(first + 1)`, ... without end, each made by a thread while the one before is in use.

    An error in the thread is raised where its result is asked for. The thread ends with the context.
    """
    with ThreadPoolExecutor(1, "prefetch") as thread:

        def results() -> Iterator[Made]:
            waiting = thread.submit(make, first)
            for number in itertools.count(first + 1):
                result = waiting.result()
                waiting = thread.submit(make, number)
                yield result

        yield results()
