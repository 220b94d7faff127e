"""The text of a phrase-based system's language model, without the sentences that the system is measured on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from nmt.system.files import read_lines


def add_text_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that name the text."""
    parser.add_argument("--texts", nargs="+", type=Path, required=True, help="tokenized, of the target language")
    parser.add_argument("--held-out", nargs="*", type=Path, default=[], help="as tokenized; lines of these are dropped")


def text_lines(texts: Sequence[Path], held_out: Sequence[Path]) -> Iterator[str]:
    """The lines of `texts` that are none of `held_out`; at the end it is said how many others there were."""
    kept_out = {line for path in held_out for line in read_lines(path)} - {""}
    dropped = 0
    for path in texts:
        for line in read_lines(path):
            if line in kept_out:
                dropped += 1
            else:
                yield line
    print(f"language model: lines dropped that are of the held-out sets: {dropped:,}", file=sys.stderr)
