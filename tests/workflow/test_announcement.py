"""Before a long run, Snakemake says what it will fetch and how long it trains; a dry run says nothing of it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from nmt.monitor.forecast import BENCH
from tests.workflow.tree import ROOT, Tree

TARGET = "data/wmt14/models/RNNsearch-50/model.safetensors"
SAID = r"nmt: this run fetches 8 archives, at least 6\.6 GB, and trains 1 model for about \d+ days in all"


def test_a_long_run_is_announced(tmp_path: Path) -> None:
    """The mirror is empty, so that the run ends with the first archive."""
    for name in ("tree", "mirror"):
        (tmp_path / name).mkdir()
    tree, mirror = Tree(tmp_path / "tree"), tmp_path / "mirror"
    (tree.folder / BENCH).parent.mkdir(parents=True)
    shutil.copy(ROOT / BENCH, tree.folder / BENCH)
    words = ["--cores", "1", "--config", f"mirror={mirror}", "--", TARGET]
    assert "this run fetches" not in tree.snakemake("--dry-run", *words, configs=[]).stdout
    run = tree.snakemake(*words, configs=[])
    assert run.returncode == 1
    assert len(re.findall(SAID, run.stdout)) == 1, run.stdout[-3000:]
