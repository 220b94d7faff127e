"""Headless Chromium: what a page is once its scripts have run, with nothing but this machine to load from."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-extensions"),
    *("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--virtual-time-budget=20000", "--dump-dom"),
]
DARK = "--blink-settings=preferredColorScheme=0"
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
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None:
        pytest.skip("no Chromium here")
    for _ in range(TRIES):
        done = _run([chromium, *OPTIONS, *([DARK] if dark else []), f"--window-size={width},1000", address])
        if done is not None:
            assert done.returncode == 0, done.stderr
            assert done.stdout, done.stderr
            return done.stdout
    raise AssertionError(f"Chromium did not end within {SECONDS} seconds, {TRIES} times")


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
