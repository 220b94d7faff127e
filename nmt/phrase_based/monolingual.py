"""The text on which the language model of a phrase-based system is trained, without held-out sentences."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from nmt.system.files import read_lines


def add_text_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the text."""
    parser.add_argument("--texts", nargs="+", type=Path, required=True, help="tokenized, in the target language")
    parser.add_argument(
        "--held-out", nargs="*", type=Path, default=[], help="tokenized; lines that occur here are dropped"
    )


def text_lines(texts: Sequence[Path], held_out: Sequence[Path]) -> Iterator[str]:
    """Yield the lines of `texts` that do not occur in `held_out`, and print the number of all others at the end."""
    excluded = {line for path in held_out for line in read_lines(path)} - {""}
    dropped = 0
    for path in texts:
        for line in read_lines(path):
            if line in excluded:
                dropped += 1
            else:
                yield line
    print(f"language model: lines of the held-out sets dropped: {dropped:,}", file=sys.stderr)
