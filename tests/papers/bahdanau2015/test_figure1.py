"""Figure 1: the same bytes each time."""

from __future__ import annotations

from pathlib import Path

from nmt.__main__ import main


def test_figure1_same_bytes(tmp_path: Path) -> None:
    runs = []
    for run in ("first", "second"):
        outputs = [tmp_path / run / f"figure1.{kind}" for kind in ("pdf", "svg", "png")]
        assert main(["bahdanau2015.figure1", "--outputs", *map(str, outputs)]) == 0
        runs.append([output.read_bytes() for output in outputs])
    assert runs[0] == runs[1]
