"""Streams that the caller has closed, as `>&-` does in a shell, whose readers exit, or whose encodings lack characters.

Python sets a closed stream to None, so messages for standard error go to standard output. The next file that is opened
gets the number of a closed stream, and with it whatever a library prints there.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any, TextIO


def open_closed() -> None:
    """Put a stream in the place of each closed one: errors and warnings vanish, any other use is refused (EBADF)."""
    for name, mode, access in (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, access)
            os.set_inheritable(descriptor, True)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8"))  # noqa: SIM115 (open until the end)


def discard_output() -> None:
    """Drop what standard output could not take, which must not fail again when Python flushes it at the end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Lasting:
    """A stream of this process whose reader may exit: what is written after that is dropped, here and by children."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> None:
        self._attempt(lambda: self._stream.write(text))

    def flush(self) -> None:
        self._attempt(self._stream.flush)

    def _attempt(self, act: Callable[[], object]) -> None:
        try:
            act()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


@contextmanager
def lasting_errors() -> Iterator[None]:
    """In the context, standard error may lose its reader, as in `2>&1 | head`: work continues."""
    before, sys.stderr = sys.stderr, Lasting(sys.stderr)
    try:
        yield
    finally:
        sys.stderr = before


def outlive_readers(handlers: Iterable[logging.Handler]) -> None:
    """Let this process continue when the reader of its standard error exits; `handlers` may write to it, too."""
    before, sys.stderr = sys.stderr, Lasting(sys.stderr)
    for handler in handlers:
        if isinstance(handler, logging.StreamHandler) and handler.stream is before:
            handler.setStream(sys.stderr)


def escape_output(handlers: Iterable[logging.Handler]) -> None:
    """Let standard output and the log files of `handlers` take characters that the locale lacks, as escapes."""
    logs = (handler.stream for handler in handlers if isinstance(handler, logging.FileHandler))
    for stream in (sys.stdout, *logs):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
