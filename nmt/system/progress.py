"""Progress of a long step on standard error: a bar on a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10.0
SILENT_SECONDS = 3.0  # for commands whose users watch standard output
ITEMS_PER_UPDATE = 1000

Item = TypeVar("Item")


class Progress:
    """How much of `total` (None if not known) is done, as a context manager that also reports the end.

    `unit` is "B" for bytes, otherwise a plural noun such as "lines"; `done` is the amount that an earlier run did.
    Nothing is shown in the first `silent` seconds.
    """

    def __init__(self, label: str, total: int | None, unit: str, done: int = 0, silent: float = 0) -> None:
        self._label, self._total, self._unit, self._done, self._silent = label, total, unit, done, silent
        self._begun = self._said = time.monotonic()
        self._bar = (
            tqdm(
                desc=label,
                total=total,
                unit=unit,
                initial=done,
                unit_scale=True,
                unit_divisor=1000,
                file=sys.stderr,
                delay=silent,
            )
            if sys.stderr.isatty()
            else None
        )

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif kind is None and (seconds := time.monotonic() - self._begun) >= self._silent:
            self._say(f"{self._amount(self._done)} in {seconds:.1f} s")

    def total(self, total: int | None) -> None:
        """Set the total."""
        self._total = total
        if self._bar is not None:
            self._bar.total = total
            self._bar.refresh()

    def update(self, amount: int, **figures: float | None) -> None:
        """Add `amount`, which may be negative. `figures` that are not None are shown beside the progress."""
        self._done += amount
        shown = {name.replace("_", " "): f"{value:.4g}" for name, value in figures.items() if value is not None}
        if self._bar is not None:
            self._bar.set_postfix(shown, refresh=False)
            self._bar.update(amount)
        elif time.monotonic() - self._said >= SECONDS_BETWEEN_LINES:
            self._said = time.monotonic()
            done = self._amount(self._done) + (f" of {self._amount(self._total)}" if self._total else "")
            self._say(", ".join([done, *(f"{name} {value}" for name, value in shown.items())]))

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items and count them, `ITEMS_PER_UPDATE` at a time, since most items take little time."""
        count = 0
        for item in items:
            yield item
            count += 1
            if count == ITEMS_PER_UPDATE:
                self.update(count)
                count = 0
        self.update(count)

    def _amount(self, amount: int) -> str:
        return f"{amount / 1e6:,.1f} MB" if self._unit == "B" else f"{amount:,} {self._unit}"

    def _say(self, text: str) -> None:
        print(f"{self._label}: {text}", file=sys.stderr, flush=True)
