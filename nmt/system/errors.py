"""The error that users see, and warnings."""

from __future__ import annotations

import sys


class UserError(Exception):
    """A mistake that the user can correct: one line that names the file or setting and says what to do."""

    def __str__(self) -> str:
        return printable(super().__str__())


def printable(text: str) -> str:
    """`text` on one line, with control characters escaped: it may quote a file or a server."""
    return "".join(
        one if one.isprintable() else " " if one.isspace() else one.encode("unicode_escape").decode() for one in text
    )


def warn(message: str) -> None:
    """Print a warning to standard error."""
    print(f"nmt: warning: {printable(message)}", file=sys.stderr, flush=True)
