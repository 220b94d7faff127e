"""Figure 3's points: those of the equations, and inputs that do not fit."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from nmt.__main__ import main
from tests.papers.choi2017 import fine


def step(folder: Path, *more: str) -> int:
    return main(["choi2017.mean_weights", *fine.options(folder), "--output", str(folder / "figure3.csv"), *more])


@pytest.mark.parametrize("wanted", [5, 100])
def test_means_over_the_translation(tmp_path: Path, capsys: pytest.CaptureFixture[str], wanted: int) -> None:
    assert step(fine.make(tmp_path), "--line", "2", "--settings", f'{{"model": "fine", "dimensions": {wanted}}}') == 0
    expected = fine.equations(2).mean(axis=0)[:, :wanted]
    with (tmp_path / "figure3.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["source_symbol"] for row in rows[:: expected.shape[1]]] == ["s4", "s4", "s10", "s2", "s5", "<eos>"]
    assert [row["dimension"] for row in rows[: expected.shape[1]]] == [str(1 + d) for d in range(expected.shape[1])]
    found = np.array([float(row["weight"]) for row in rows]).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, atol=2e-6)
    assert ("an annotation has 12 dimensions, not 100" in capsys.readouterr().err) == (wanted == 100)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--line", "5"], "source.txt: no line 5; choose another sentence"),
        (["--line", "0"], "source.txt: no line 0; choose another sentence"),
        (["--line", "4"], "source.txt: line 4 is empty; choose another sentence"),
        (["--line", "2", "--source", "short.txt"], "target.txt: 4 lines, but short.txt has 3; give files of the same"),
        (["--line", "1", "--model", "plain"], "plain: its attention is not fine-grained, but Figure 3 needs it"),
    ],
)
def test_what_does_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, more: list[str], message: str
) -> None:
    fine.make(tmp_path)
    (tmp_path / "short.txt").write_text("".join(f"{line}\n" for line in fine.SOURCE[1:]))
    monkeypatch.chdir(tmp_path)
    assert step(tmp_path, "--settings", '{"model": "fine"}', *more) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
