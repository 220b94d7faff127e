"""The figure of the learning curves, from its points."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest

from nmt.__main__ import main
from nmt.monitor.gather_metrics import COLUMNS
from nmt.report.drawing import style
from nmt.report.learning_curves import TITLES, WITHOUT_SEEDS, continued, draw, mean_curves, read_curves, smoothed
from nmt.system.errors import UserError

ROWS = [
    *("a$b$c,train_nll,50,0.1,90.5", "a$b$c,train_nll,100,0.2,40.25", "a$b$c,development_nll,100,0.2,50"),
    *("b*,train_nll,150,0.4,8", "b*,development_nll,150,0.45,9.5", "b*,development_nll,200,1.5,9"),
]


def points(folder: Path, *rows: str, columns: tuple[str, ...] = WITHOUT_SEEDS) -> str:
    (folder / "curves.csv").write_text("\n".join([",".join(columns), *rows]) + "\n")
    return str(folder / "curves.csv")


def test_four_panels_show_the_points(tmp_path: Path) -> None:
    """Texts by rows, updates and hours by columns; models differ without colour."""
    with style():
        figure = draw(read_curves(points(tmp_path, *ROWS)))
    panels = figure.axes
    drawn = [[line.get_xydata().tolist() for line in axes.lines] for axes in panels]
    assert drawn == [
        [[[50, 90.5], [100, 65.375]], [[150, 8]]],
        [[[0.1, 90.5], [0.2, 65.375]], [[0.4, 8]]],
        [[[100, 50]], [[150, 9.5], [200, 9]]],
        [[[0.2, 50]], [[0.45, 9.5], [1.5, 9]]],
    ]
    assert [axes.get_ylabel() for axes in panels] == [
        *("Train NLL\n(nats a sentence, log scale)", "", "Dev. NLL\n(nats a sentence, log scale)", ""),
    ]
    assert [axes.get_xlabel() for axes in panels] == ["", "", "Updates", "Hours of training"]
    first, second = panels[0].lines
    assert first.get_linestyle() != second.get_linestyle()
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a$b$c", "b*"]


def test_an_axis_says_when_it_is_logarithmic(tmp_path: Path) -> None:
    with style():
        panels = draw(read_curves(points(tmp_path, *ROWS, "b*,development_bleu,200,1.5,21.5"))).axes
    assert [axes.get_yscale() for axes in panels[::2]] == ["log", "log", "linear"]
    assert [axes.get_ylabel().endswith("log scale)") for axes in panels[::2]] == [True, True, False]
    assert {axes.get_xscale() for axes in panels} == {"linear"}
    assert len(TITLES) == 3


def test_a_line_and_a_word_explain_where_a_model_continues_another(tmp_path: Path) -> None:
    """Its first point is averaged with the last one of the model before, as all others are."""
    more = ["a$b$c*,train_nll,150,0.3,30.25", "a$b$c*,train_nll,200,0.4,40"]
    arguments = read_curves(points(tmp_path, *ROWS, *more)), {"a$b$c*": "a$b$c", "none": "b*"}
    with style():
        figure = draw(*arguments)
    above = figure.axes[0]
    curve, line = above.lines[2:]
    assert curve.get_xydata().tolist() == [[150, 35.25], [200, 35.125]]
    assert line.get_xdata() == [100, 100]
    for axes, begin in zip(figure.axes, (100, 0.2, 100, 0.2), strict=True):
        assert axes.lines[-1].get_xdata() == [begin, begin]
    words = [text for axes in figure.axes for text in axes.texts]
    assert [text.get_text() for text in words] == [*["continues a$b$c"] * 2, "", ""]
    assert not any(text.get_parse_math() for text in words)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a$b$c", "b*", "a$b$c*"]


def test_seeds_of_one_model_have_one_line_and_a_band(tmp_path: Path) -> None:
    """At the updates that all have; where updates do not increase, the next seed begins."""
    seeds = [*("a,development_nll,100,1,50", "a,development_nll,200,2,30", "a,development_nll,300,3,29")]
    seeds += [*("a,development_nll,100,2,40", "a,development_nll,200,4,34", "b,development_nll,100,1,60")]
    train = [*("a,train_nll,50,1,80", "a,train_nll,50,1,60", "b,train_nll,50,1,70")]
    with style():
        figure = draw(read_curves(points(tmp_path, *seeds, *train)))
    below, hours = figure.axes[2:]
    assert [line.get_xydata().tolist() for line in below.lines] == [[[100, 45], [200, 32]], [[100, 60]]]
    assert hours.lines[0].get_xydata().tolist() == [[1.5, 45], [3, 32]]
    [band] = below.collections
    [path] = band.get_paths()
    assert {tuple(corner) for corner in path.vertices.tolist()} == {(100, 40), (100, 50), (200, 30), (200, 34)}
    assert [len(axes.collections) for axes in figure.axes] == [1, 1, 1, 1]
    assert len(figure.legends[0].get_texts()) == 2


def test_rows_of_seeds_may_be_mixed_but_not_their_updates(tmp_path: Path) -> None:
    """As in a table that was sorted by updates, and in one that was sorted by values."""
    rows = [f"a,train_nll,{updates},{updates}.0,{90 - updates},{seed},0" for seed in (7, 8) for updates in (5, 10, 15)]
    curves = read_curves(points(tmp_path, *rows, columns=COLUMNS))
    assert [one.updates for one in curves["a"]["train_nll"]] == [[5, 10, 15]] * 2
    assert read_curves(points(tmp_path, *rows[::3], *rows[1::3], *rows[2::3], columns=COLUMNS)) == curves
    assert mean_curves(read_curves(points(tmp_path, *rows[3:], *rows[:3], columns=COLUMNS)), {}) == mean_curves(
        curves, {}
    )
    with pytest.raises(UserError, match="row 3: train_nll of a is not in the order of updates; make the file again"):
        read_curves(points(tmp_path, *rows[:1], *rows[:1], columns=COLUMNS))


def test_seeds_of_a_model_that_continues_are_averaged_from_their_own_starts(tmp_path: Path) -> None:
    """The seeds of the model before stopped at different updates: their numbers may increase from seed to seed, too."""
    rows = [*("a,train_nll,100,1,60,1,0", "a,train_nll,200,2,50,1,0", "a,development_nll,100,1,61,1,0")]
    rows += [*("a,train_nll,100,1,80,2,0", "a,development_nll,100,1,71,2,0")]
    rows += [*("b,train_nll,150,2,40,1,100", "b,development_nll,200,3,41,1,100", "b,development_nll,300,4,31,1,100")]
    rows += [*("b,train_nll,250,4,30,2,200", "b,development_nll,300,5,21,2,200", "b,development_nll,400,6,11,2,200")]
    with style():
        figure = draw(read_curves(points(tmp_path, *rows, columns=COLUMNS)), {"b": "a"})
    above, _, below, hours = figure.axes
    assert [line.get_xydata().tolist() for line in above.lines[:2]] == [[[100, 70]], [[200, fmean([50, 55])]]]
    assert [line.get_xydata().tolist() for line in below.lines[:2]] == [[[100, 66]], [[250, 31], [350, 21]]]
    assert hours.lines[1].get_xydata().tolist() == [[4, 31], [5, 21]]
    assert [len(axes.collections) for axes in figure.axes] == [2, 2, 2, 2]


def test_a_model_continues_that_of_its_own_seed(tmp_path: Path) -> None:
    rows = [*("a,train_nll,100,1,60,1,0", "a,train_nll,100,1,80,2,0", "b,train_nll,150,2,40,2,100")]
    with style():
        figure = draw(read_curves(points(tmp_path, *rows, columns=COLUMNS)), {"b": "a"})
    assert figure.axes[0].lines[1].get_xydata().tolist() == [[150, fmean([80, 40])]]


def test_seeds_of_its_own_continue_in_the_order_of_the_file(tmp_path: Path) -> None:
    rows = ["a,train_nll,100,1,60,1,0", "a,train_nll,100,1,80,2,0"]
    rows += ["b,train_nll,150,2,40,9,100", "b,train_nll,150,2,50,2,100"]
    curves = read_curves(points(tmp_path, *rows, columns=COLUMNS))
    assert [one and one.seed for one in continued(curves["b"]["train_nll"], curves["a"]["train_nll"])] == [1, 2]
    with style():
        figure = draw(curves, {"b": "a"})
    assert figure.axes[0].lines[1].get_xydata().tolist() == [[150, fmean([60, 40, 80, 50])]]


def test_the_line_is_at_the_model_that_was_kept_of_the_one_before(tmp_path: Path) -> None:
    """With a patience, that one has gone on after its best model; its later points say nothing of the next one."""
    rows = [*("a,train_nll,100,1,60,1,0", "a,train_nll,200,2,50,1,0", "a,train_nll,400,4,20,1,0")]
    rows += ["b,train_nll,210,1.9,40,1,150"]
    with style():
        figure = draw(read_curves(points(tmp_path, *rows, columns=COLUMNS)), {"b": "a"})
    above, hours = figure.axes[:2]
    assert above.lines[1].get_xydata().tolist() == [[210, fmean([60, 40])]]
    assert [axes.lines[-1].get_xdata() for axes in (above, hours)] == [[150, 150], [1.5, 1.5]]


def test_seeds_that_are_measured_at_other_updates_are_lines_between_them(tmp_path: Path) -> None:
    """As where a model continues another, whose seeds stopped at updates that are no multiples of its own pauses."""
    rows = [*("a,train_nll,100,1,60,1,0", "a,development_nll,110,1,80,1,100", "a,development_nll,130,3,40,1,100")]
    rows += [*("a,development_nll,150,5,20,1,100", "a,train_nll,100,1,60,2,0", "a,development_nll,130,1,50,2,110")]
    rows += [*("a,development_nll,150,3,30,2,110",)]
    with style():
        figure = draw(read_curves(points(tmp_path, *rows, columns=COLUMNS)))
    [line] = figure.axes[2].lines[:1]
    assert line.get_xydata().tolist() == [[135, fmean([40, 40])]]


def test_the_legend_has_every_label(tmp_path: Path) -> None:
    with style():
        [legend] = draw(read_curves(points(tmp_path, *(row.replace("a$b$c", "_a") for row in ROWS)))).legends
    assert [text.get_text() for text in legend.get_texts()] == ["_a", "b*"]


def test_the_train_nll_does_not_follow_the_lengths_of_sorted_minibatches() -> None:
    assert smoothed([4, 6, 4, 6, 4], []) == [4, 5, 5, 5, 5]
    assert smoothed([4, 6, 4], [9, 6]) == [5, 5, 5]
    assert smoothed([], []) == smoothed([], [6]) == []


def test_bleu_has_a_row_of_its_own_where_it_is_measured(tmp_path: Path) -> None:
    with style():
        panels = draw(read_curves(points(tmp_path, *ROWS, "b*,development_bleu,200,1.5,21.5"))).axes
    assert [[line.get_xydata().tolist() for line in axes.lines] for axes in panels[4:]] == [
        [[], [[200, 21.5]]],
        [[], [[1.5, 21.5]]],
    ]
    assert [axes.get_ylabel() for axes in panels[::2]][2] == "Dev. BLEU (greedy)"
    assert [axes.get_xlabel() for axes in panels] == [*[""] * 4, "Updates", "Hours of training"]


def test_trainings_of_less_than_an_hour_are_in_minutes(tmp_path: Path) -> None:
    with style():
        above, below = draw(read_curves(points(tmp_path, *ROWS[:4]))).axes[1::2]
    assert [line.get_xdata().tolist() for line in above.lines] == [pytest.approx([6, 12]), pytest.approx([24])]
    assert below.get_xlabel() == "Minutes of training"


@pytest.mark.parametrize("rows", [ROWS, ROWS[:1], ROWS[2:3]])
def test_the_figure_is_the_same_bytes_again(tmp_path: Path, rows: list[str]) -> None:
    drawn = []
    for _ in range(2):
        outputs = [str(tmp_path / f"curves.{ending}") for ending in ("pdf", "svg", "png")]
        assert main(["learning_curves", "--points", points(tmp_path, *rows), "--outputs", *outputs]) == 0
        drawn.append([Path(output).read_bytes() for output in outputs])
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no points"),
        (["a,train_nll,x,1,2"], "row 2"),
        (["a,test_nll,1,1,2"], "row 2"),
        (["a,1"], "row 2"),
        (["a,train_nll,1,1,-2"], "row 2: not a number 0 or more: '-2'"),
    ],
)
def test_points_that_are_none(tmp_path: Path, rows: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learning_curves", "--points", points(tmp_path, *rows), "--outputs", str(tmp_path / "c.png")]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (tmp_path / "c.png").exists()


@pytest.mark.parametrize("updates", [5_000, 15_000, 30_000, 288_000, 1_000_000])
def test_the_numbers_of_updates_do_not_touch(updates: int, tmp_path: Path) -> None:
    with style():
        figure = draw(read_curves(points(tmp_path, "a,train_nll,50,0.1,90.5", f"a,train_nll,{updates},2,30")))
        figure.draw_without_rendering()
        labels = [label.get_window_extent() for label in figure.axes[-2].get_xticklabels()]
    labels = [label for label in labels if label.width]
    gaps = [after.x0 - before.x1 for before, after in pairwise(labels)]
    assert len(gaps) >= 2
    assert min(gaps) > labels[0].height
