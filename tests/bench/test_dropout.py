"""The table of dropout: how often each training reads a pair, and what it reaches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.dropout import rows


def test_a_row_for_each_model_with_the_mean_of_its_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.yaml").write_text(
        "extends: config/demo.yaml\nexperiment: x\nseeds: 2\npaper: null\nphrase_based: null\nvariants:\n"
        + "".join(f"  {name}: null\n" for name in ("RNNencdec-30", "RNNsearch-30", "RNNencdec-50", "RNNsearch-50star"))
        + "  RNNsearch-50: {updates: 10, cooldown: 0, batch: 4}\n"
        + "  D: {updates: 20, batch: 4, dropout: 0.3, cooldown: 0}\n"
    )
    models = {"RNNsearch-50": (10, 3.5), "RNNsearch-50-seed1235": (10, 4.5), "D": (20, 3), "D-seed1235": (20, 3)}
    for name, (updates, nll) in models.items():
        folder = tmp_path / "data/x/models" / name
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(
            json.dumps({"updates": updates, "pairs_seen": 4 * updates, "development_nll": nll})
        )
    (tmp_path / "data/x/selected").mkdir()
    (tmp_path / "data/x/selected/train.en").write_text("a\n" * 8)
    found = [tuple(row.values())[1:] for row in rows("x.yaml")]
    assert found == [
        ("RNNsearch-50", 8, 10, 5.0, 0.0, 2, 4.0, pytest.approx(0.5**0.5)),
        ("D", 8, 20, 10.0, 0.3, 2, 3.0, 0.0),
    ]
