"""The figure of data selection, from its points."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.__main__ import main
from nmt.corpora.select import DISTRIBUTION
from nmt.report.ratings import draw, read_bins


def points(folder: Path, *rows: str) -> str:
    (folder / "ratings.csv").write_text("\n".join([",".join(DISTRIBUTION), *rows]) + "\n")
    return str(folder / "ratings.csv")


ROWS = ["a$b$c,,-10,3,3,0.3", "a$b$c,0.25,0.5,9,4,0.3", "a$b$c,15,,1,0,0.3", "whole,1,1.25,5,5,"]


@pytest.mark.parametrize("rows", [ROWS, ROWS[:1], ROWS[-1:]])
def test_the_figure_is_the_same_bytes_again(tmp_path: Path, rows: list[str]) -> None:
    drawn = []
    for _ in range(2):
        outputs = [str(tmp_path / f"ratings.{ending}") for ending in ("pdf", "svg", "png")]
        assert main(["ratings", "--points", points(tmp_path, *rows), "--outputs", *outputs]) == 0
        drawn.append([Path(output).read_bytes() for output in outputs])
    assert drawn[0] == drawn[1]
    svg = drawn[0][1].decode()
    assert svg.count("stroke-dasharray") == (0 if rows == ROWS[-1:] else 1)  # the cut


def test_the_figure_of_many_corpora_can_be_saved(tmp_path: Path) -> None:
    """A picture must have fewer than 65,536 pixels a side, and drawing an axes for each corpus took minutes."""
    figure = draw(read_bins(points(tmp_path, *(f"corpus{number},0,1,2,1,0.5" for number in range(600)))))
    assert [len(axes.get_yticks()) for axes in figure.axes] == [600]
    assert figure.get_figheight() * 200 < 65_536


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no points"),
        (["a,x,1,2,3,"], "row 2"),
        (["a,1"], "row 2"),
        (["a,,,0,0,"], "a has no pairs"),
        (ROWS[1:2] * 2, "the scores of a$b$c do not rise from row to row; make the file again"),
        (ROWS[2::-1], "the scores of a$b$c do not rise from row to row"),
        (["a,,1e101,1,1,"], "row 2: too large a number: '1e101'"),
    ],
)
def test_points_that_are_none(tmp_path: Path, rows: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ratings", "--points", points(tmp_path, *rows), "--outputs", str(tmp_path / "r.png")]) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "r.png").exists()
