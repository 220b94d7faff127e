"""Waiting for what another process does."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 900.0  # seconds until a run, or what a test waits for in it, is given up


def wait_until(done: Callable[[], object], what: str, pause: float, alive: Callable[[], bool] = lambda: True) -> None:
    """Look every `pause` seconds whether `what` is done, while the process that does it is `alive`."""
    end = time.monotonic() + PATIENCE
    while not done():
        assert alive(), f"ended before {what}"
        assert time.monotonic() < end, f"too long until {what}"
        time.sleep(pause)
