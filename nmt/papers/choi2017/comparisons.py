"""Which models are compared with which baselines: each with one, and with another model."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from nmt.system.errors import UserError


def add_compare_argument(parser: argparse.ArgumentParser, required: bool) -> None:
    """The option --compare, which may be repeated; `baselines` reads it."""
    parser.add_argument(
        "--compare",
        nargs=2,
        action="append",
        default=[],
        required=required,
        metavar=("MODEL", "BASELINE"),
        help="labels to compare",
    )


def baselines(pairs: Iterable[Sequence[str]], place: str = "--compare") -> dict[str, str]:
    """Model -> baseline. Raises UserError, which begins with `place`, for a model that has two or is its own."""
    found: dict[str, str] = {}
    for model, baseline in pairs:
        if model in found:
            raise UserError(f"{place}: {model} is compared twice; name one pair for it")
        if model == baseline:
            raise UserError(f"{place}: {model} is compared with itself; name another baseline")
        found[model] = baseline
    return found
