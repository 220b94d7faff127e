"""Reading ahead: what the next update needs is prepared while this one runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Made = TypeVar("Made")


@contextmanager
def ahead(make: Callable[[int], Made], first: int) -> Iterator[Iterator[Made]]:
    """Yield an endless iterator over `make(first)`, `make(first + 1)`, ..., each computed while the last is in use.

    One thread calls `make`, and ends with the context. An error in `make` is raised where its result is requested.
    """
    with ThreadPoolExecutor(1, "prefetch") as thread:

        def results() -> Iterator[Made]:
            waiting = thread.submit(make, first)
            for number in itertools.count(first + 1):
                result = waiting.result()
                waiting = thread.submit(make, number)
                yield result

        yield results()
