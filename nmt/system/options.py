"""Options that several steps share."""

from __future__ import annotations

import argparse


def add_device_arguments(parser: argparse.ArgumentParser) -> None:
    """The options --device and --threads of a step that runs a model; `nmt.system.device.prepare` applies them."""
    parser.add_argument(
        "--device",
        default="auto",
        choices=("auto", "cpu", "cuda"),
        help="where to compute; auto takes a GPU where there is one (default: %(default)s)",
    )
    parser.add_argument("--threads", type=int, metavar="N", help="CPU threads (default: one a core)")
