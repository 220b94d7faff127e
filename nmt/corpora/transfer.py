"""Download a file over HTTP, over several connections and runs if necessary.

The received data is in a partial file, with a note beside it: the address, the version on the server and the length.
A later connection, even of another process, requests only the missing data, on condition that the server still has
that version; otherwise the download starts again.

A server cannot fill the disk or keep a connection open for ever: a file has a maximum length, and data must arrive at a
minimum rate. A file is complete only if its length is known or its transfer has an end of its own.
"""

from __future__ import annotations

import http.client
import re
import signal
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from nmt.settings.checks import integer, matching, optional, read_values
from nmt.system.errors import UserError, warn
from nmt.system.progress import Progress
from nmt.system.text import write_json

BLOCK = 1 << 20
TIMEOUT = 30.0  # seconds without a byte
PERIOD = 60.0  # seconds within which an answer must begin; the rate is measured over the same period
SLOWEST = 1_000  # bytes a second
TRANSIENT = {408, 425, 429, 500, 502, 503, 504}


class UnavailableError(Exception):
    """The file is not available at an address; the message says why."""


class TooLongError(UnavailableError):
    """The file is longer than it may be."""


class _BrokenError(Exception):
    """A transfer failed for a reason that may be temporary; the message says which."""


def note_path(partial: Path) -> Path:
    """The path of the note beside a partial file."""
    return partial.with_name(f"{partial.name}.json")


def begun(partial: Path) -> str:
    """The address that a partial file is from; "" if there is none."""
    return str(_note(partial).get("address", ""))


def download(url: str, partial: Path, label: str, *, length: int | None, longest: int, pauses: Sequence[float]) -> None:
    """Download the file at `url` into `partial`, resuming from what is there; progress is shown as `label`.

    `length` is the expected length in bytes, None if not known, and `longest` the greatest that it may be. `pauses` (in
    seconds) are made between attempts and start again after each block received. Raises UnavailableError if the file is
    not available; received data is kept.
    """
    with open(partial, "ab") as file, Progress(label, None, "B") as progress:
        transfer = _Transfer(url, file, partial, length, longest, progress)
        furthest, tries = transfer.received, 0
        while not transfer.done():
            try:
                transfer.connect()
                return
            except _BrokenError as error:
                if transfer.received >= furthest + BLOCK:
                    tries = 0
                furthest = max(furthest, transfer.received)
                if tries == len(pauses):
                    raise UnavailableError(f"{error} after {tries + 1} attempts") from None
                warn(f"{url}: {error}; trying again in {pauses[tries]:g} s")
                time.sleep(pauses[tries])
                tries += 1


class _Transfer:
    """The state of a download.

    `received` is the number of bytes in the file; they are of the version `tag`, an entity tag or a date. `moved` says
    whether this run received any. `length` is that of the complete file, None as long as it is not known.
    """

    def __init__(
        self, url: str, file: IO[bytes], partial: Path, expected: int | None, longest: int, progress: Progress
    ) -> None:
        self.url, self.file, self.partial, self.progress = url, file, partial, progress
        self.expected, self.longest = expected, longest
        self.received, self.tag, self.moved = 0, "", False
        self.length: int | None = None
        note = _note(partial)
        if note.get("address") == url:
            self.received, self.tag, self.length = partial.stat().st_size, note["version"], note["bytes"]
            progress.total(self.length)
            progress.update(self.received)

    def done(self) -> bool:
        """Whether an earlier run received the complete file."""
        return self.length is not None and self.received == self.length

    def connect(self) -> None:
        """Receive what is missing. Raises _BrokenError if another attempt may help, UnavailableError if none will."""
        with self._open() as response:
            if response.status != 206:
                self._begin(response)
            for block in self._blocks(response):
                self.file.write(block)
                self.received += len(block)
                self.moved = True
                self.progress.update(len(block))
        self.file.flush()
        # Without a length and chunks, a transfer that breaks off looks like one that ends.
        length = self.expected if self.length is None and not response.chunked else self.length
        if length is not None and self.received != length:
            raise _BrokenError(f"expected {length} bytes, got {self.received}")

    def _blocks(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        """What the server sends, as it comes, up to the length of the file or to the end of the transfer."""
        begun, received = time.monotonic(), self.received
        while self.length is None or self.received < self.length:
            try:
                block = response.read1(BLOCK if self.length is None else min(BLOCK, self.length - self.received))
            except http.client.IncompleteRead:
                raise _BrokenError("the connection was closed in the middle") from None
            except (OSError, http.client.HTTPException) as error:
                raise _BrokenError(f"the connection broke ({_said(error)})") from None
            if not block:
                return
            if self.received + len(block) > (self.expected or self.longest):
                self._discard()
                raise TooLongError(f"expected at most {self.expected or self.longest} bytes, the server sends more")
            yield block
            if time.monotonic() - begun >= PERIOD:
                if self.received - received < PERIOD * SLOWEST:
                    raise _BrokenError(f"the server sends fewer than {SLOWEST} bytes a second")
                begun, received = time.monotonic(), self.received

    def _open(self) -> http.client.HTTPResponse:
        request = urllib.request.Request(self.url, headers={"User-Agent": "nmt"})
        if self.received and self.tag:
            request.add_header("Range", f"bytes={self.received}-")
            request.add_header("If-Range", self.tag)
        try:
            with _within(PERIOD):
                response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=TIMEOUT)
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 416:
                    self._discard()
                    raise _BrokenError("the file has changed on the server") from None
                if error.code in TRANSIENT:
                    raise _BrokenError(f"the server answers {error.code} {error.reason}") from None
                raise UnavailableError(f"the server answers {error.code} {error.reason}") from None
        except http.client.InvalidURL as error:
            raise UnavailableError(f"not a URL ({error})") from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            # Without a network or a host waiting is useless, unless the transfer had begun.
            lasting = isinstance(reason, (socket.gaierror, ConnectionRefusedError, ssl.SSLCertVerificationError))
            unreachable = isinstance(reason, OSError) and "unreachable" in str(reason)
            if (lasting or unreachable) and not self.moved:
                raise UnavailableError(f"cannot be reached ({_said(reason)})") from None
            raise _BrokenError(f"no answer ({_said(reason)})") from None
        except (ValueError, OverflowError) as error:
            raise UnavailableError(f"not a URL ({error})") from None
        if not isinstance(response, http.client.HTTPResponse):
            raise UnavailableError("it redirects to an address that is not http or https")
        if response.status == 206 and not self._is_the_rest(response.headers):
            response.close()
            self._discard()
            raise _BrokenError("the server sent another range or another version than requested")
        return response

    def _is_the_rest(self, headers: http.client.HTTPMessage) -> bool:
        start, _, end = headers.get("Content-Range", "").removeprefix("bytes ").partition("-")
        total = _number(end.partition("/")[2])
        tag = headers.get("Last-Modified" if self.tag.endswith(" GMT") else "ETag", self.tag)
        known = self.length is not None and total in (None, self.length)
        return known and start == str(self.received) and tag == self.tag

    def _begin(self, response: http.client.HTTPResponse) -> None:
        """Start again with the version that the server now has."""
        headers = response.headers
        said = None if response.chunked else headers.get("Content-Length")
        length = _number(said)
        if said is not None and length is None:
            raise UnavailableError(f"the server names a length that is no number ({said})")
        if None not in (length, self.expected) and length != self.expected:
            raise TooLongError(f"expected {self.expected} bytes, the server has {length}")
        if length is not None and length > self.longest:
            raise TooLongError(f"expected at most {self.longest} bytes, the server has {length}")
        if length is None and self.expected is None and not response.chunked:
            raise UnavailableError("the server does not say how long the file is; set its `bytes` in the registry")
        self._discard()
        # Some servers take a tag without quotes for a date, and never find it equal.
        tag, date = headers.get("ETag", ""), headers.get("Last-Modified", "")
        tag = tag if tag.startswith('"') else date or ("" if tag.startswith("W/") else tag)
        self.tag = tag if tag.isprintable() else ""
        self.length = length
        self.progress.total(length)
        if self.tag:
            write_json(note_path(self.partial), {"address": self.url, "version": self.tag, "bytes": length})

    def _discard(self) -> None:
        self.file.truncate(0)
        note_path(self.partial).unlink(missing_ok=True)
        self.progress.update(-self.received)
        self.received, self.tag, self.length = 0, "", None


def _note(partial: Path) -> dict[str, Any]:
    """The note of a partial file; empty if it is missing or damaged: then the transfer starts again."""
    printable = matching("[ -~]+", "printable ASCII")
    with suppress(UserError):
        if partial.exists():
            return read_values(note_path(partial), address=printable, version=printable, bytes=optional(integer(1)))
    return {}


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the context after `seconds`; only in the main thread."""

    def end(*_: object) -> None:
        raise TimeoutError(f"none in {seconds:g} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"[0-9]{1,15}", text) else None


def _said(error: Any) -> str:
    return str(getattr(error, "strerror", None) or error) or type(error).__name__
