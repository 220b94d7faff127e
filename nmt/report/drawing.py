"""One style for all figures, and files whose bytes depend only on the drawing."""

from __future__ import annotations

import argparse
import io
import logging
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from nmt.system.errors import UserError, warn
from nmt.system.files import atomic
from nmt.system.options import Output

# For each format, the metadata that would record the date and the version of matplotlib.
METADATA: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}
FONT = "DejaVu Sans"
# Common system fonts for Chinese, Japanese and Korean characters, which FONT lacks.
CJK_FONTS = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei"),
    *("WenQuanYi Zen Hei", "Droid Sans Fallback", "IPAexGothic", "NanumGothic", "PingFang SC", "Hiragino Sans"),
    *("Apple SD Gothic Neo", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic"),
)
ROUND = (1, 2, 5, 10)  # the steps from tick to tick, times a power of 10
LEGEND_LINE = 0.19  # the height of a line of a legend, in inches
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "mathtext.fontset": "cm",
    "pdf.fonttype": 42,
    "svg.hashsalt": "nmt",
    "axes.linewidth": 0.8,
    "figure.dpi": 200,
}


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the option --outputs: files whose endings name their formats."""
    parser.add_argument("--outputs", type=Output, required=True, nargs="+", help="files ending in .pdf, .svg or .png")


@contextmanager
def style() -> Iterator[None]:
    """The style of all figures, independent of the user's matplotlib settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE | {"font.family": fonts()})
        yield


def fonts() -> list[str]:
    """The font of all figures and, for characters that it lacks, those of CJK_FONTS that are installed."""
    manager = font_manager.fontManager
    for path in {*font_manager.findSystemFonts()} - {one.fname for one in manager.ttflist}:
        with suppress(RuntimeError, OSError, ValueError):  # no font that matplotlib can read
            manager.addfont(path)  # it was installed after matplotlib looked for fonts
    installed = set(font_manager.get_font_names())
    return [FONT, *(one for one in CJK_FONTS if one in installed)]


def literal(texts: Sequence[Text]) -> None:
    """Show words of a corpus as they are: a dollar sign in them does not begin a formula."""
    for text in texts:
        text.set_parse_math(False)


def add_legend(figure: Figure, axes: Axes, columns: int) -> None:
    """A legend above all panels for what `axes` show. matplotlib by itself leaves out labels that begin with _.

    It has fewer `columns` where it would be wider than the figure, which grows by the lines that this adds.
    """
    handles = [one for one in axes.lines if one.get_label()]
    legend = figure.legend(
        handles,
        [str(number) for number in range(len(handles))],
        loc="outside upper center",
        ncols=columns,
        frameon=False,
        handlelength=3.4,
        fontsize=9,
    )
    for text, handle in zip(legend.get_texts(), handles, strict=True):
        text.set_text(str(handle.get_label()))
    literal(legend.get_texts())
    with warnings.catch_warnings(action="ignore"):  # of missing characters, of which `save` warns
        figure.draw_without_rendering()
    if legend.get_window_extent().width > figure.bbox.width and columns > 1:
        legend.remove()
        before, after = (math.ceil(len(handles) / number) for number in (columns, columns - 1))
        figure.set_figheight(figure.get_figheight() + LEGEND_LINE * (after - before))
        add_legend(figure, axes, columns - 1)


def printable(word: str) -> str:
    """`word` with U+FFFD for control characters and all others that fonts have no glyph for and XML may not hold."""
    return "".join(one if one.isprintable() else "\ufffd" for one in word)


def formats_of(outputs: Sequence[str]) -> list[str]:
    """The formats that the endings of `outputs` name; UserError for an unknown ending."""
    formats = [Path(output).suffix.lstrip(".") for output in outputs]
    for output, kind in zip(outputs, formats, strict=True):
        if kind not in METADATA:
            raise UserError(f"{output}: does not end in .{', .'.join(METADATA)}; name a file that does")
    return formats


def save(figure: Figure, outputs: Sequence[str]) -> None:
    """Write `figure` to each of `outputs`; call it inside `style`. Raises UserError as `formats_of`."""
    formats = formats_of(outputs)
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # it warns of the fixed date in the fonts
    with one_font_warning(outputs[0]):
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # a layout that is computed again would shift between formats
        for output, kind in zip(outputs, formats, strict=True):
            drawn = io.BytesIO()  # the PDF backend hides the errno of a full disk
            figure.savefig(drawn, format=kind, metadata=METADATA[kind])
            with atomic(output) as partial:
                partial.write_bytes(drawn.getvalue())


@contextmanager
def one_font_warning(name: object) -> Iterator[None]:
    """Warn once where the fonts lack characters of what is drawn, in place of matplotlib's warning of each."""
    with warnings.catch_warnings(record=True) as said:
        yield
    if any("missing from" in str(one.message) for one in said):
        warn(f"{name}: no font here has all of its characters; install one that has, such as Noto Sans CJK")
