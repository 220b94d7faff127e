"""The configuration of an experiment, read from its files as Snakemake reads them: for commands that run beside it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from nmt.settings.experiment import Config, load
from nmt.system.files import UserError, read_lines

BASE = "config/wmt14.yaml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "overlays",
        nargs="*",
        metavar="CONFIG",
        help=f"what Snakemake was given as --configfile, in the same order; demo stands for config/demo.yaml ({BASE})",
    )


def read_config(overlays: Sequence[str]) -> Config:
    """BASE under its overlays, files or the names of files in config/."""
    files = [one if "." in one or "/" in one else f"config/{one}.yaml" for one in overlays]
    merged: dict[str, Any] = {}
    for file in [BASE, *files]:
        merged = _merge(merged, _read(file))
    return load(merged)


def _read(file: str) -> Mapping[str, Any]:
    text = "\n".join(read_lines(file))
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UserError(f"{file}: not YAML ({' '.join(str(error).split())})") from None
    if not isinstance(value, Mapping):
        raise UserError(f"{file}: not a configuration; name one as config/demo.yaml")
    return value


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`below` with the settings of `above`, section by section."""
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        if isinstance(value, Mapping):
            value = _merge(under if isinstance(under, Mapping) else {}, value)
        merged[key] = value
    return merged
