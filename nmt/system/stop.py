"""Being asked to stop: SIGTERM and SIGINT are noted, for a long step to end where it can go on later."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any

STOPPED = 75  # the exit code, EX_TEMPFAIL of sysexits.h: try again
SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StoppedError(Exception):
    """A step has ended early, as it was asked to: one line on how to go on, none where another process says it."""


class Stop:
    """As a context manager, whether SIGTERM or SIGINT has `asked` for an end since it was entered.

    A SIGINT after that raises KeyboardInterrupt, unless `patient`. On leaving, the handlers are again what they were.
    """

    def __init__(self, patient: bool = False) -> None:
        self.asked = False
        self._patient = patient
        self._handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Stop:
        self._handlers = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked and number == signal.SIGINT and not self._patient:
            raise KeyboardInterrupt
        self.asked = True
