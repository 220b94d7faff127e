"""The files of an experiment: one that extends another holds only what differs from it.

A mapping is merged key by key, everything else is replaced; null leaves out an inherited variant or section. The name
of an experiment and its folder of results are never inherited, so that no two experiments write the same files. The
file that `extends` names is looked for in the working directory, then in the project's folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from os.path import expanduser
from typing import Any

from nmt.settings.checks import PLAIN, nearest, text
from nmt.settings.experiment import Experiment, load
from nmt.settings.project import find
from nmt.system.errors import UserError, warn
from nmt.system.text import read_lines

PAPER = "config/bahdanau2015/wmt14.yaml"  # the experiment where none is named
EXTENDS = "extends"
OWN = ("experiment", "results")


def add_arguments(parser: argparse.ArgumentParser, default: str = PAPER) -> None:
    """The files of an experiment, as `arguments.configs`; `default` says in the help which are taken without."""
    parser.add_argument(
        "configs",
        nargs="*",
        metavar="CONFIG",
        help=f"the experiment's file, as given to Snakemake; demo stands for config/demo.yaml (default: {default})",
    )


def read_experiment(files: Sequence[str], settings: dict[str, str] | None = None) -> Experiment:
    """The experiment of `files`, each merged over the one before as Snakemake does, or of PAPER where there is none.

    A bare name stands for the file of that name in config/. `settings` replace those of the files.
    """
    paths = [file if "." in file or "/" in file else f"config/{file}.yaml" for file in files or [PAPER]]
    check_layers(paths)
    merged: dict[str, Any] = {}
    for path in paths:
        merged = merge(merged, read(path))
    return load(resolve(merged | (settings or {})))


def check_layers(files: Sequence[str]) -> None:
    """Raise UserError where `files`, each merged over the one before, are not one experiment.

    They may name only one, and extend only one file; a variant that is null must have settings in another of them, or
    in what they extend. A first file that extends none, as one of resolved settings, only gets a warning.
    """
    chains = {file: [*reversed(_layers(read(file)))] for file in files}
    for key, remedy in (
        ("experiment", "run one after the other, or let one extend the other"),
        (EXTENDS, "leave it out of one of them"),
    ):
        values = {file: chain[-1][key] for file, chain in chains.items() if key in chain[-1]}
        different = list({str(value): file for file, value in values.items()}.values())
        if len(different) > 1:
            raise UserError(f"{different[0]} and {different[1]}: each sets {key}; {remedy}")
    variants = [layer.get("variants") for chain in chains.values() for layer in chain]
    named = [(place, *item) for place, one in enumerate(variants) if isinstance(one, Mapping) for item in one.items()]
    known = {name for _, name, settings in named if settings is not None}
    for place, name, settings in named:
        if settings is None and name not in known:
            said, instead = f"config: variants.{name}: null leaves out", "write {} for a variant that sets nothing"
            if place:
                raise UserError(f"{said} an inherited variant, and none has this name{nearest(name, known)}; {instead}")
            warn(f"{said} the variant; {instead}")


def resolve(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of `mapping` over those of the file that it extends, and of the file that this one extends."""
    merged: dict[str, Any] = {}
    for layer in reversed(_layers(mapping)):
        merged = merge({key: value for key, value in merged.items() if key not in OWN}, layer)
    merged.pop(EXTENDS, None)
    return merged


def _layers(mapping: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """`mapping`, the settings of the file that it extends, and so on. Raises UserError."""
    seen: list[str] = []
    layers = [mapping]
    while (file := layers[-1].get(EXTENDS)) is not None:
        if not text().accepts(file):
            raise UserError(f"config: {EXTENDS}: expected the path of a configuration, {PLAIN}, not {file!r}")
        file = expanduser(file)
        if file in seen:
            raise UserError(f"config: {EXTENDS}: a circle, {' -> '.join([*seen, file])}; one must extend no other")
        seen.append(file)
        layers.append(read(file))
    return layers


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`below` with the settings of `above`, section by section."""
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        if isinstance(value, Mapping):
            value = merge(under if isinstance(under, Mapping) else {}, value)
        merged[key] = value
    return merged


def read(file: str) -> Mapping[str, Any]:
    """The settings in `file`, as they are written there. Raises UserError."""
    from nmt.settings.strict import parse  # imports PyYAML

    value = parse("\n".join(read_lines(find(file))), file)
    if not isinstance(value, Mapping):
        raise UserError(f"{file}: not a configuration; name one such as config/demo.yaml")
    return value
