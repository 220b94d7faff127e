"""Record how an experiment's results were made: by which code, from which text, with what, where and how long."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from nmt.monitor.forecast import job_seconds
from nmt.settings.checks import identifier, parse_json, read_values
from nmt.settings.experiment import PHRASE_BASED
from nmt.settings.project import PROJECT
from nmt.system.checksums import sha256
from nmt.system.errors import UserError
from nmt.system.options import Output
from nmt.system.text import read_json, write_json

PACKAGES = ("torch", "numpy", "sacremoses", "subword-nmt", "sentencepiece", "sacrebleu", "sil-thot", "ufal.kenlm")
OF_A_MODEL = ("updates", "updates_best", "hours", "torch", "device", "precision", "seed", "settings_digest")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--command", required=True, metavar="TEXT", help="the command that ran the workflow")
    parser.add_argument("--configuration", required=True, metavar="JSON", help="the settings of the experiment")
    parser.add_argument("--code", required=True, metavar="JSON", help="the digest of the code of each step")
    parser.add_argument("--summaries", nargs="*", default=[], metavar="JSON", help="summary.json of each model")
    parser.add_argument("--texts", nargs="+", required=True, help="prepared texts: training, development and test")
    parser.add_argument("--experiment", required=True, help="name of the experiment")
    parser.add_argument("--rules", nargs="+", required=True, help="rules of the workflow, whose seconds are recorded")
    parser.add_argument("--output", type=Output, required=True, help="JSON")


def commit(folder: Path) -> str | None:
    """The commit of the project in `folder`, with "+" if files other than results have changed since; None without git.

    A repository around the folder is another project's.
    """
    # A hook of git, for one, sets GIT_DIR, which names another repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        top, head, changes = (
            subprocess.run(
                ["git", "-C", folder, *words], env=environment, capture_output=True, text=True, check=True
            ).stdout.strip()
            for words in (
                ["rev-parse", "--show-toplevel"],
                ["rev-parse", "HEAD"],
                ["status", "--porcelain", "--untracked-files=no", "--", ".", ":(exclude)results"],
            )
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + ("+" if changes else "") if Path(top) == folder.resolve() else None


def versions() -> dict[str, str]:
    """The version of Python and of each installed package that decides results."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def run(arguments: argparse.Namespace) -> None:
    models: dict[str, Any] = {}
    for path in arguments.summaries:
        name, summary = read_values(path, variant=identifier())["variant"], read_json(path)
        if name in models:
            raise UserError(f"{path}: a second summary of {name}; name one of each variant")
        models[name] = {key: summary[key] for key in OF_A_MODEL if key in summary}
    texts: dict[str, str] = {}
    for path in arguments.texts:
        name = Path(path).name
        if name in texts:
            raise UserError(f"{path}: a second text of this name; name one of each")
        texts[name] = sha256(path)
    seconds = job_seconds(arguments.experiment, {*models, PHRASE_BASED})
    record = {
        "experiment": arguments.experiment,
        "command": arguments.command,
        "commit": commit(PROJECT),
        "versions": versions(),
        "seconds": {rule: round(sum(seconds[rule]), 1) for rule in sorted(seconds.keys() & arguments.rules)},
        "models": models,
        "texts": texts,
        "code": parse_json(arguments.code, "--code"),
        "configuration": parse_json(arguments.configuration, "--configuration"),
    }
    write_json(arguments.output, record)
