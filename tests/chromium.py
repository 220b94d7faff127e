"""Headless Chromium: what a page is once its scripts have run, with nothing but this machine to load from.

`document` and `visit` give a page's HTML; a `Browser` is at a keyboard, whose keys a page cannot tell from a reader's.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-extensions"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
DUMP = ["--virtual-time-budget=20000", "--dump-dom"]
DARK = "--blink-settings=preferredColorScheme=0"
KEYS = {"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}  # their codes
TRIES = 3  # on a busy machine Chromium sometimes never ends
SECONDS = 60  # for each


def document(page: Path, anchor: str = "", script: str = "", *, width: int = 1400, dark: bool = False) -> str:
    """The HTML of `page` after its own scripts and then `script`, a function body that may await, have run.

    With `dark`, the reader prefers a dark screen. The test is skipped where there is no Chromium.
    """
    if script:
        changed = page.with_name(f"{page.stem}.driven.html")
        run = f"<script>addEventListener('load', () => setTimeout(async () => {{ {script} }}, 1000));</script>"
        before, end, after = page.read_text(encoding="utf-8").rpartition("</body>")
        changed.write_text(f"{before}{run}{end}{after}", encoding="utf-8")
        page = changed
    return visit(page.as_uri() + (f"#{anchor}" if anchor else ""), width=width, dark=dark)


def visit(address: str, *, width: int = 1400, dark: bool = False) -> str:
    """The HTML of the page at `address` after its own scripts have run, as `document` gives it."""
    chromium = _program()
    for _ in range(TRIES):
        done = _run([chromium, *OPTIONS, *DUMP, *([DARK] if dark else []), f"--window-size={width},1000", address])
        if done is not None:
            assert done.returncode == 0, done.stderr
            assert done.stdout, done.stderr
            return done.stdout
    raise AssertionError(f"Chromium did not end within {SECONDS} seconds, {TRIES} times")


def _program() -> str:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium here")
    return found


def _run(command: list[str]) -> subprocess.CompletedProcess[str] | None:
    """Run the command with a home of its own; None, with all its processes ended, where it takes too long."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as home:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=os.environ | {"HOME": home},
            start_new_session=True,
        )
        try:
            said, warned = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None
    return subprocess.CompletedProcess(command, process.returncode, said, warned)


class Browser:
    """One page in Chromium, which is told by the DevTools protocol what the reader does."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = os.fdopen(commands, "wb"), os.fdopen(answers, "rb")
        self._session: dict[str, str] = {}
        self._number = 0
        self._unread = b""

    def close(self) -> None:
        self._commands.close()
        self._answers.close()

    def tell(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to one command."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters, **self._session}
        self._commands.write(json.dumps(command).encode() + b"\0")
        self._commands.flush()
        while (message := self._read()).get("id") != self._number:
            pass
        assert "error" not in message, message
        return dict(message["result"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            assert select.select([self._answers], [], [], SECONDS)[0], f"no word from Chromium for {SECONDS} seconds"
            read = self._answers.read1()
            assert read, "Chromium has ended"
            self._unread += read
        line, _, self._unread = self._unread.partition(b"\0")
        return dict(json.loads(line))

    def open(self, address: str, width: int, dark: bool) -> None:
        """Go to `address` in a window of that width, and wait until its scripts have run."""
        target = self.tell("Target.createTarget", url="about:blank")["targetId"]
        session = self.tell("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._session = {"sessionId": session}
        self.tell("Emulation.setFocusEmulationEnabled", enabled=True)
        self.tell("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.tell("Emulation.setEmulatedMedia", features=[scheme])
        self.tell("Page.enable")
        self.tell("Page.navigate", url=address)
        while self._read().get("method") != "Page.loadEventFired":
            pass
        self.rest()

    def ask(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page, which may await."""
        answer = self.tell(
            "Runtime.evaluate", expression=f"(async () => ({expression}))()", awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until an expression of JavaScript is true in the page."""
        end = time.monotonic() + SECONDS
        while not self.ask(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.05)

    def rest(self) -> None:
        """Wait until what the page has begun to load and to draw is there."""
        self.ask("await new Promise((done) => setTimeout(() => requestAnimationFrame(done), 200))")

    def press(self, *keys: str) -> None:
        """Press keys one after the other; shift is held for one named as Shift+Tab."""
        for key in keys:
            name = key.removeprefix("Shift+")
            text = {"Enter": "\r"}.get(name, name if len(name) == 1 else "")
            said = {"key": name, "code": name, "modifiers": 8 if key != name else 0}
            said |= {"windowsVirtualKeyCode": KEYS.get(name, ord(name[0]))} | ({"text": text} if text else {})
            self.tell("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **said)
            self.tell("Input.dispatchKeyEvent", type="keyUp", **said)
            self.rest()

    def picture(self, path: Path) -> None:
        """Write what the window shows as a PNG file."""
        path.write_bytes(base64.b64decode(self.tell("Page.captureScreenshot")["data"]))


@contextmanager
def browser(address: str, *, width: int = 1400, dark: bool = False) -> Iterator[Browser]:
    """A browser that has gone to `address`; the test is skipped where there is no Chromium."""
    (theirs, commands), (answers, ours) = os.pipe(), os.pipe()
    # Chromium reads commands from the file 3 and writes answers to the file 4.
    line = [_program(), *OPTIONS, "--remote-debugging-pipe"]
    with TemporaryDirectory(ignore_cleanup_errors=True) as home:
        process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{ours}', "bash", *line, f"--user-data-dir={home}"],
            pass_fds=(theirs, ours),
            stderr=subprocess.DEVNULL,
            env=os.environ | {"HOME": home},
            start_new_session=True,
        )
        os.close(theirs)
        os.close(ours)
        found = Browser(commands, answers)
        try:
            found.open(address, width, dark)
            yield found
        finally:
            found.close()
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
