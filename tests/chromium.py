"""Headless Chromium: what a page is once its scripts have run, with no network to load anything from."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def document(page: Path, anchor: str = "", script: str = "", *, width: int = 1400) -> str:
    """The HTML of `page` after its own scripts and then `script`, a function body that may await, have run.

    The test is skipped where there is no Chromium.
    """
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None:
        pytest.skip("no Chromium here")
    if script:
        changed = page.with_name(f"{page.stem}.driven.html")
        run = f"<script>addEventListener('load', () => setTimeout(async () => {{ {script} }}, 1000));</script>"
        before, end, after = page.read_text(encoding="utf-8").rpartition("</body>")
        changed.write_text(f"{before}{run}{end}{after}", encoding="utf-8")
        page = changed
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"]
    options += ["--host-resolver-rules=MAP * ~NOTFOUND", f"--window-size={width},1000"]
    done = subprocess.run(
        [chromium, *options, page.as_uri() + (f"#{anchor}" if anchor else "")],
        capture_output=True,
        check=False,
        env=os.environ | {"HOME": str(page.parent)},
        timeout=120,
    )
    said = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode()
    assert said, done.stderr.decode()
    return said
