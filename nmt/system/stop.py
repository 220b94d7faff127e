"""Requests to stop: SIGTERM and SIGINT are recorded, so that a long step can stop where it can resume later.

A step that cannot resume ends at once, but not without removing its temporary files.
"""

from __future__ import annotations

import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
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

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked and number == signal.SIGINT and not self._patient:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def temporary_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """A new folder, in `parent` or where temporary files belong; it is removed at the end, even if SIGTERM comes.

    SIGTERM raises SystemExit. Python drops that if it comes while an object is finalized; then it is raised at the end.
    """
    left: list[int] = []

    def leave(number: int, frame: FrameType | None) -> None:
        left.append(128 + number)
        signal.signal(number, signal.SIG_DFL)
        raise SystemExit(left[0])

    with handling(signal.SIGTERM, leave), tempfile.TemporaryDirectory(prefix=f"{prefix}.", dir=parent) as name:
        yield Path(name)
        if left:
            raise SystemExit(left[0])


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGINT end the process at once: code outside Python would not see KeyboardInterrupt until it is done."""
    with handling(signal.SIGINT, signal.SIG_DFL):
        yield


@contextmanager
def handling(number: signal.Signals, handler: Any) -> Iterator[None]:
    """Handle a signal with `handler`, unless it is ignored or this is not the main thread: only that may do so."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(number) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)
