"""What a failed job leaves: the next run makes its outputs again, and all that was made from the earlier ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from nmt.system.records import keep_records

ROOT = Path(__file__).parents[2]
SNAKEFILE = f"""
import sys

import snakemake.jobs

sys.path.insert(0, {str(ROOT)!r})
from nmt.system.records import keep_records

keep_records(snakemake.jobs.Job)


rule all:
    input:
        "last",


rule first:
    input:
        "text",
    output:
        "made",
    params:
        setting=config["setting"],
    shell:
        "{{{{ cat {{input}}; echo {{params.setting}}; }}}} > {{output}}; test -e room"


rule last:
    input:
        "made",
    output:
        "last",
    shell:
        "cp {{input}} {{output}}"
"""


@pytest.fixture
def run(tmp_path: Path) -> Callable[[int], bool]:
    """A function that runs the workflow with a setting; the result is whether it succeeded."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "text").write_text("old\n")
    (tmp_path / "room").touch()
    options = ["--cores", "1", "--rerun-triggers", "mtime", "params", "input", "--max-checksum-file-size", "1TB"]

    def run(setting: int) -> bool:
        words = [sys.executable, "-m", "snakemake", *options, "--config", f"setting={setting}"]
        return subprocess.run(words, cwd=tmp_path, capture_output=True).returncode == 0

    assert run(1)
    assert (tmp_path / "last").read_text() == "old\n1\n"
    return run


def test_a_changed_setting_is_remembered(tmp_path: Path, run: Callable[[int], bool]) -> None:
    (tmp_path / "room").unlink()
    assert not run(2)
    (tmp_path / "room").touch()
    assert run(2)
    assert (tmp_path / "last").read_text() == "old\n2\n"


def test_a_changed_text_is_remembered(tmp_path: Path, run: Callable[[int], bool]) -> None:
    (tmp_path / "room").unlink()
    (tmp_path / "text").write_text("new\n")
    for _ in range(2):
        assert not run(1)
    (tmp_path / "room").touch()
    assert run(1)
    assert (tmp_path / "last").read_text() == "new\n1\n"


def test_a_class_with_other_methods_is_left_alone() -> None:
    other = SimpleNamespace()
    keep_records(other)
    assert vars(other) == {}
    keep_records(None)
