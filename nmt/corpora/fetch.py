"""Fetch one archive from the web, a mirror or a folder, check its length and hash, and keep it only if it is whole.

What arrives goes to a partial file, renamed at the end, so that nothing truncated or altered ever lies under the final
name. Timeouts, broken connections and a server's own failures are tried again with growing pauses, from where the
transfer stopped if the server allows it.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import os
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, urlsplit

from nmt.corpora.registry import HASH, archive_path
from nmt.files import UserError, atomic, warn
from nmt.progress import Progress

BLOCK = 1 << 20
TIMEOUT = 30.0  # seconds without a byte
PAUSES = (1.0, 4.0, 15.0)  # seconds between tries; a gain of a block begins them anew
TRANSIENT = {408, 425, 429, 500, 502, 503, 504}
SET_MIRROR = "set `mirror` in the config to a copy that can be reached"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--address", required=True, help="http, https or file URL, or a path below the mirror")
    parser.add_argument("--mirror", default="", help="http, https or file URL, or folder, read in place of the host")
    parser.add_argument("--hash", default="", help="md5:HEX or sha256:HEX that the file must have")
    parser.add_argument("--output", type=Path, required=True)


def run(arguments: argparse.Namespace) -> None:
    fetch(arguments.address, arguments.output, mirror=arguments.mirror, digest=arguments.hash)


def fetch(address: str, output: Path, *, mirror: str = "", digest: str = "") -> None:
    """Write the file at `address`, or its copy in `mirror`, to `output`.

    `digest` is "md5:HEX", "sha256:HEX" or "" for a hash that is not known. Raises UserError where the file cannot be
    had, is truncated or has another hash; `output` is then as it was.
    """
    digest = digest.lower()
    if digest and not HASH.fullmatch(digest):
        raise UserError(f"--hash {digest!r}: write md5: and 32 or sha256: and 64 hex digits")
    place = location(address, mirror)
    hashing = _Hash(digest)
    with atomic(output) as partial, open(partial, "wb") as file:
        if isinstance(place, Path):
            _copy(place, file, hashing)
        else:
            _download(place, file, hashing)
        hashing.check(str(place))


def location(address: str, mirror: str = "") -> Path | str:
    """Where to read `address`: a path of this machine, or an http(s) URL.

    "https://host/a/b.tgz" is read from "MIRROR/a/b.tgz" where a mirror is given. Raises UserError for an address
    that needs a mirror and has none, and for a scheme that is not http, https or file.
    """
    if mirror:
        path = archive_path(address)
        if "://" not in mirror:
            folder = Path(mirror).expanduser()
            if not folder.is_dir():
                raise UserError(f"mirror: {mirror}: no such folder; {SET_MIRROR}")
            return folder / path
        address = f"{mirror.rstrip('/')}/{quote(path)}"
    elif "://" not in address:
        raise UserError(
            f"{address}: lies in a mirror, and none is set; set `mirror` in the config to its folder or URL"
        )
    parts = urlsplit(address)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return Path(urllib.request.url2pathname(parts.path))
    if parts.scheme in ("http", "https") and parts.netloc:
        return address
    raise UserError(f"{address}: not an http, https or file URL; correct it, or `mirror` in the config")


class _Hash:
    """The digest of the bytes so far, if one is asked for."""

    def __init__(self, expected: str) -> None:
        self.expected = expected
        self.restart()

    def restart(self) -> None:
        name = self.expected.partition(":")[0]
        self._state = hashlib.new(name, usedforsecurity=False) if name else None

    def update(self, block: bytes) -> None:
        if self._state:
            self._state.update(block)

    def check(self, place: str) -> None:
        if self._state and (got := f"{self._state.name}:{self._state.hexdigest()}") != self.expected:
            raise UserError(f"{place}: expected {self.expected}, got {got}; nothing was kept, the copy there differs")


def _copy(place: Path, file: IO[bytes], hashing: _Hash) -> None:
    try:
        with open(place, "rb") as source:
            size = os.fstat(source.fileno()).st_size
            with Progress(f"fetch {place.name}", size, "B") as progress:
                while block := source.read(BLOCK):
                    file.write(block)
                    hashing.update(block)
                    progress.update(len(block))
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
        raise UserError(f"{place}: {error.strerror}; put the file there, or {SET_MIRROR}") from None


class _BrokenError(Exception):
    """A transfer that stopped for a reason that may pass; says which."""


class _Transfer:
    """One file over HTTP, possibly in several connections.

    `length` is the whole file's length in bytes, None while no server has told it; `tag` names its version.
    """

    def __init__(self, url: str, file: IO[bytes], hashing: _Hash, progress: Progress) -> None:
        self.url, self.file, self.hashing, self.progress = url, file, hashing, progress
        self.length: int | None = None
        self.tag = ""
        self.received = 0

    def connect(self) -> None:
        """Receive what is missing. Raises _BrokenError where another try may help, UserError where none will."""
        with self._open() as response:
            if self.received and response.status != 206:
                self._restart()
            if not self.received:
                self.length = _number(response.headers.get("Content-Length"))
                tag = response.headers.get("ETag", "")
                self.tag = tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified", "")
                self.progress.total(self.length)
            for block in _blocks(response):
                self.file.write(block)
                self.hashing.update(block)
                self.received += len(block)
                self.progress.update(len(block))
        if self.length is not None and self.received != self.length:
            raise _BrokenError(f"expected {self.length} bytes, got {self.received}")

    def _open(self) -> http.client.HTTPResponse:
        request = urllib.request.Request(self.url, headers={"User-Agent": "nmt"})
        if self.received and self.tag:
            request.add_header("Range", f"bytes={self.received}-")
            request.add_header("If-Range", self.tag)
        try:
            response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=TIMEOUT)
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 416:
                    self._restart()
                    raise _BrokenError("the file has changed on the server") from None
                if error.code in TRANSIENT:
                    raise _BrokenError(f"the server answers {error.code} {error.reason}") from None
                raise UserError(f"{self.url}: the server answers {error.code} {error.reason}; {SET_MIRROR}") from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            # Without a network or a host there is nothing to wait for, unless the transfer had begun.
            lasting = isinstance(reason, (socket.gaierror, ConnectionRefusedError, ssl.SSLCertVerificationError))
            unreachable = isinstance(reason, OSError) and "unreachable" in str(reason)
            if (lasting or unreachable) and not self.received:
                raise UserError(f"{self.url}: cannot be reached ({_said(reason)}); {SET_MIRROR}") from None
            raise _BrokenError(f"no answer ({_said(reason)})") from None
        except ValueError as error:
            raise UserError(f"{self.url}: not a URL ({error}); correct it, or `mirror` in the config") from None
        start = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
        if response.status == 206 and start != str(self.received):
            response.close()
            self._restart()
            raise _BrokenError("the server sends another part than was asked for")
        return response

    def _restart(self) -> None:
        self.file.seek(0)
        self.file.truncate()
        self.hashing.restart()
        self.progress.update(-self.received)
        self.received, self.tag = 0, ""


def _download(url: str, file: IO[bytes], hashing: _Hash) -> None:
    with Progress(f"fetch {url.rpartition('/')[2]}", None, "B") as progress:
        transfer = _Transfer(url, file, hashing, progress)
        furthest, tries = 0, 0
        while True:
            try:
                transfer.connect()
                return
            except _BrokenError as error:
                if transfer.received >= furthest + BLOCK:
                    tries = 0
                furthest = max(furthest, transfer.received)
                if tries == len(PAUSES):
                    raise UserError(f"{url}: {error} after {tries + 1} tries; repeat later, or {SET_MIRROR}") from None
                warn(f"{url}: {error}; trying again in {PAUSES[tries]:.0f} s")
                time.sleep(PAUSES[tries])
                tries += 1


def _blocks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    while True:
        try:
            block = response.read(BLOCK)
        except http.client.IncompleteRead as error:
            yield error.partial
            raise _BrokenError("the connection was closed in the middle") from None
        except (OSError, http.client.HTTPException) as error:
            raise _BrokenError(f"the connection broke ({_said(error)})") from None
        if not block:
            return
        yield block


def _number(text: str | None) -> int | None:
    return int(text) if text and text.strip().isdigit() else None


def _said(error: Any) -> str:
    return str(getattr(error, "strerror", None) or error) or type(error).__name__
