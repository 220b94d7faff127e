"""The logger `nmt` of Snakemake: `snakemake --logger nmt` prints a line for each stage and a bar for each training.

It prints to standard output; what Snakemake prints to standard error stays as it is. Snakemake imports this module in
every run, before it knows the workflow, and so before it knows which folder's package nmt is meant.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from threading import Event, Thread
from typing import TYPE_CHECKING

from snakemake.common import NOTHING_TO_BE_DONE_MSG
from snakemake_interface_logger_plugins.base import LogHandlerBase

if TYPE_CHECKING:
    from nmt.monitor.follow import Follower

SECONDS = 2.0  # between two updates of the trainings' bars


class LogHandler(LogHandlerBase):
    """Hands the events of a run to a Follower. If the display fails, it stops and the run continues."""

    writes_to_stream = writes_to_file = needs_rulegraph = False
    has_filter = has_formatter = True  # its own: none

    def __post_init__(self) -> None:
        self.follower: Follower | None = None
        self.over = Event()
        if self.common_settings.dryrun:
            self.over.set()

    def emit(self, record: logging.LogRecord) -> None:
        self._attempt(lambda: self._show(record))

    def close(self) -> None:
        self._attempt(self._end)
        super().close()

    def _attempt(self, act: Callable[[], None]) -> None:
        self.acquire()
        try:
            if not self.over.is_set():
                act()
        except OSError:  # the reader of standard output has left
            self.over.set()
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except Exception as error:
            self.over.set()
            print(f"The display has failed ({error!r}); the run continues.", file=sys.stderr)
        finally:
            self.release()

    def _show(self, record: logging.LogRecord) -> None:
        event = getattr(record, "event", None)
        if hasattr(record, "experiment") and hasattr(record, "plain_name"):
            from nmt.monitor.follow import Follower

            self.follower = Follower(record.experiment, _log(), record.plain_name)
            if sys.stdout.isatty():
                Thread(target=self._look, daemon=True).start()
        elif event is not None and self.follower is not None:
            self.follower.note(str(event), vars(record))
        elif hasattr(record, "ending"):
            print(record.getMessage(), flush=True)
        elif self.follower is not None and self.follower.stages:
            return  # a job has begun; before that, Snakemake says why none does
        elif record.levelno >= logging.ERROR or record.msg == NOTHING_TO_BE_DONE_MSG:
            print(record.getMessage().strip(), flush=True)

    def _look(self) -> None:
        """Move the bars of the trainings until the run ends."""
        while not self.over.wait(SECONDS):
            self._attempt(lambda: self.follower.look() if self.follower else None)

    def _end(self) -> None:
        self.over.set()
        if self.follower is not None:
            self.follower.end()


def _log() -> str:
    """The file to which Snakemake writes all its messages, relative to the working directory."""
    handlers = logging.getLogger("snakemake.logging").handlers
    return next((os.path.relpath(one.baseFilename) for one in handlers if isinstance(one, logging.FileHandler)), "")
