"""The base install translates, scores, aligns and serves; what else is missing is one line that names the extra."""

from __future__ import annotations

import os
import socket
import subprocess
import tomllib
import urllib.request
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from nmt.__main__ import EXTRAS
from tests import environment
from tests.test_models import MODEL

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the packages of the base install alone."""
    folder = tmp_path_factory.mktemp("base") / "environment"
    return environment.make(folder, map(Requirement, PROJECT["dependencies"]))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a sentence and its translation."""
    folder = tmp_path_factory.mktemp("text")
    (folder / "en.txt").write_text("I do not know where he lives.\n")
    (folder / "fr.txt").write_text("Je ne sais pas où il habite.\n")
    return folder


def start(python: Path, *words: str, folder: Path) -> subprocess.Popen[str]:
    """Start `nmt WORDS` in `folder`."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [python, "-m", "nmt", *words],
        cwd=folder,
        env=variables,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def nmt(python: Path, *words: str, folder: Path) -> tuple[int | None, str, str]:
    """The exit code of `nmt WORDS` and what it prints."""
    with start(python, *words, folder=folder) as process:
        out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def test_the_base_install_translates_and_scores(base: Path, text: Path) -> None:
    model = ("--model", str(MODEL), "--device", "cpu")
    code, out, err = nmt(base, "translate", *model, "--source", "en.txt", folder=text)
    assert (code, out) == (0, "Je ne sais pas où il habite.\n"), err
    code, out, err = nmt(base, "score", *model, "en.txt", "fr.txt", folder=text)
    assert code == 0, err
    assert float(out.split("\n")[1].split("\t")[0]) < 0


def test_the_base_install_aligns_and_names_the_extra_that_draws(base: Path, text: Path) -> None:
    model = ("en.txt", "fr.txt", "--model", str(MODEL), "--device", "cpu")
    code, _, err = nmt(base, "align", *model, "--table", "table.csv", folder=text)
    assert code == 0, err
    assert "habite" in (text / "table.csv").read_text()
    code, out, err = nmt(base, "align", *model, "--figure", "figure.pdf", folder=text)
    assert (code, out) == (1, "")
    assert err == "nmt align: matplotlib is not installed; pip install 'nmt[figures]'\n"


def test_the_base_install_serves(base: Path, text: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with start(base, "serve", "--model", str(MODEL), "--port", str(port), "--device", "cpu", folder=text) as server:
        try:
            assert server.stderr is not None
            said = ""
            while f":{port}" not in said:
                line = server.stderr.readline()
                assert line, said
                said += line
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as page:
                assert b"<!doctype html>" in page.read()
        finally:
            server.terminate()


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("new", "yaml is not installed; pip install 'nmt[workflow]'"),
        ("train_lm", "kenlm is not installed; pip install 'nmt[workflow]'"),
        ("thot_symmetrize", "thot is not installed; pip install 'nmt[phrase-based]'"),
        ("ratings", "matplotlib is not installed; pip install 'nmt[figures]'"),
    ],
)
def test_a_missing_extra_is_one_line(step: str, said: str, base: Path, text: Path) -> None:
    assert nmt(base, step, "--help", folder=text) == (1, "", f"nmt {step}: {said}\n")


def test_every_extra_has_the_packages_that_send_to_it() -> None:
    owners = packages_distributions()
    for module, extra in EXTRAS.items():
        names = {canonicalize_name(Requirement(line).name) for line in PROJECT["optional-dependencies"][extra]}
        assert canonicalize_name(owners[module][0]) in names, module


def test_all_is_every_extra_but_the_tools_of_development() -> None:
    extras = PROJECT["optional-dependencies"]
    (everything,) = map(Requirement, extras["all"])
    assert everything.name == PROJECT["name"]
    assert everything.extras == extras.keys() - {"all", "development"}


def test_libraries_whose_private_parts_are_used_are_capped() -> None:
    lines = [*PROJECT["dependencies"], *(line for lines in PROJECT["optional-dependencies"].values() for line in lines)]
    capped = {one.name for one in map(Requirement, lines) if any(part.operator == "<" for part in one.specifier)}
    assert {"sacremoses", "subword-nmt", "sacrebleu", "sil-thot", "snakemake"} <= capped
