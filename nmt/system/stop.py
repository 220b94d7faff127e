"""Requests to stop: SIGTERM and SIGINT are recorded, so that a long step can stop where it can resume later."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any

STOPPED = 75  # the exit code: EX_TEMPFAIL of sysexits.h, try again
SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StoppedError(Exception):
    """A step stopped on request. The message says how to resume; it is empty if another process says so."""


class Stop:
    """A context manager: `asked` is true once SIGTERM or SIGINT was received in it.

    A later SIGINT raises KeyboardInterrupt, unless `patient`. The previous handlers are restored at the end.
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
