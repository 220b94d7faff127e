"""The table of dropout: how often each training reads a pair, and what it reaches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.dropout import rows


def test_a_row_for_each_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.yaml").write_text(
        "extends: config/demo.yaml\nexperiment: x\npaper: null\nphrase_based: null\nvariants:\n"
        + "".join(f"  {name}: null\n" for name in ("RNNencdec-30", "RNNsearch-30", "RNNencdec-50", "RNNsearch-50star"))
        + "  RNNsearch-50: {updates: 10, cooldown: 0, batch: 4}\n"
        + "  D: {updates: 20, batch: 4, dropout: 0.3, cooldown: 0}\n"
    )
    for name, updates, nll in (("RNNsearch-50", 10, 3.5), ("D", 20, 3.25)):
        folder = tmp_path / "data/x/models" / name
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(json.dumps({"updates": updates, "development_nll": nll}))
    (tmp_path / "data/x/selected").mkdir()
    (tmp_path / "data/x/selected/train.en").write_text("a\n" * 8)
    found = [(row["model"], row["times_read"], row["dropout"], row["development_nll"]) for row in rows("x.yaml")]
    assert found == [("RNNsearch-50", 5.0, 0.0, 3.5), ("D", 10.0, 0.3, 3.25)]
