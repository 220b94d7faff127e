"""Progress on standard error: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10.0


class Reporter:
    """Says how far a training is, out of `total` updates."""

    def __init__(self, label: str, total: int, start: int) -> None:
        self.label, self.total = label, total
        self.said = time.monotonic()
        terminal = sys.stderr.isatty()
        self.bar = tqdm(desc=label, total=total, initial=start, unit="update") if terminal else None

    def update(self, updates: int, figures: dict[str, float | None]) -> None:
        """`updates` are done; `figures` are shown beside them where they are known."""
        shown = {name: f"{value:.4g}" for name, value in figures.items() if value is not None}
        if self.bar is not None:
            self.bar.update(updates - self.bar.n)
            self.bar.set_postfix(shown, refresh=False)
        elif time.monotonic() - self.said >= SECONDS_BETWEEN_LINES or updates == self.total:
            self.said = time.monotonic()
            line = ", ".join(f"{name} {value}" for name, value in shown.items())
            print(f"{self.label}: {updates} of {self.total} updates, {line}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self.bar is not None:
            self.bar.close()
