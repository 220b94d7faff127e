"""Figures show the words of every language for which the system has a font."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

from nmt.report import heatmap
from nmt.report.drawing import CJK_FONTS, FONT, add_legend, fonts, one_font_warning, save, style
from nmt.report.panels import Panel

WORD = "房"


def make_font(path: Path, name: str) -> None:
    """A font of one character, a square."""
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 700), (700, 700), (700, 0)):
        pen.lineTo(corner)
    pen.closePath()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "house"])
    builder.setupCharacterMap({ord(WORD): "house"})
    builder.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "house": pen.glyph()})
    builder.setupHorizontalMetrics({".notdef": (800, 0), "house": (800, 0)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": name, "styleName": "Regular", "psName": "Square"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)


def draw(folder: Path) -> list[str]:
    """What is warned of while a figure of the word is drawn."""
    figure = Figure(figsize=(1, 1))
    figure.text(0.5, 0.5, f"House {WORD}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        save(figure, [str(folder / f"word.{kind}") for kind in ("pdf", "svg", "png")])
    return [str(one.message) for one in caught]


def test_matplotlibs_warnings_of_glyphs_become_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    monkeypatch.setattr(fontManager, "ttflist", [one for one in fontManager.ttflist if one.name not in CJK_FONTS])
    with style(), one_font_warning("here"):
        figure = Figure(figsize=(1, 1))
        figure.text(0.5, 0.5, f"{WORD} {WORD}")
        figure.draw_without_rendering()
    assert capsys.readouterr().err.count("no font here has all of its characters") == 1


def test_chinese_is_drawn_with_an_installed_font(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also with one that was installed after matplotlib had looked for fonts; without any, one line says so."""
    make_font(tmp_path / "font.ttf", CJK_FONTS[1])
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    monkeypatch.setattr(fontManager, "ttflist", [one for one in fontManager.ttflist if one.name not in CJK_FONTS])
    with style():
        assert fonts() == [FONT]
        assert draw(tmp_path) == []
    said = f"nmt: warning: {tmp_path}/word.pdf: no font here has all of its characters; install one that has"
    assert capsys.readouterr().err == f"{said}, such as Noto Sans CJK\n"
    (tmp_path / "broken.ttf").touch()
    found = [str(tmp_path / name) for name in ("broken.ttf", "font.ttf")]
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: found)
    with style():
        assert fonts() == [FONT, CJK_FONTS[1]]
        assert draw(tmp_path) == []
    assert capsys.readouterr().err == ""
    assert "#Square-" in (tmp_path / "word.svg").read_text()


@pytest.mark.parametrize("label", ["US$ 5 or US$ 6", "cost $_$ a"])
def test_a_label_below_a_panel_is_no_formula(tmp_path: Path, label: str) -> None:
    panels = [Panel(label, ["a"], ["b"], np.eye(1))]
    with style():
        save(heatmap.draw(panels), [str(tmp_path / "heatmap.svg")])
    assert f"({label})" in (tmp_path / "heatmap.svg").read_text()


@pytest.mark.parametrize("labels", [3, 28])
def test_a_legend_of_long_labels_has_fewer_columns(labels: int) -> None:
    """And the panels stay as high as they were."""
    figure = Figure(figsize=(6.4, 5.2), layout="constrained")
    axes = figure.subplots()
    for number in range(labels):
        axes.plot([0, 1], label=f"RNNsearch-50, dropout 0.3, news text {number}")
    add_legend(figure, axes, 3)
    [legend] = figure.legends
    assert legend.get_window_extent().width <= figure.bbox.width
    assert len(legend.get_texts()) == labels
    figure.draw_without_rendering()
    assert axes.get_window_extent().height / figure.dpi > 2


def test_a_picture_does_not_depend_on_the_formats_beside_it(tmp_path: Path) -> None:
    words = [f"word{'s' * number}" for number in range(12)]
    panels = [Panel(letter, words, words, np.eye(12)) for letter in "abc"]
    for folder, kinds in (("one", ["png"]), ("three", ["pdf", "svg", "png"])):
        (tmp_path / folder).mkdir()
        with style():
            save(heatmap.draw(panels), [str(tmp_path / folder / f"heatmap.{kind}") for kind in kinds])
    one, three = ((tmp_path / folder / "heatmap.png").read_bytes() for folder in ("one", "three"))
    assert one == three
