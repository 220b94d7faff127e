"""Show which source words a trained model attends to as it generates given translations: a picture, a table or both.

The picture has a heat map for each pair, under the number of its line; 0 is black, 1 white. The table has a row for
each weight alpha_ij, the rows and columns of a matrix counted from 0.
"""

from __future__ import annotations

import argparse

from nmt.search.text import add_pair_arguments, read_symbol_pairs
from nmt.system.errors import UserError
from nmt.system.options import Output, add_device_arguments

PANELS = 30  # in one picture, at most
EXAMPLES = """\
example:
  %(prog)s --model models/en-fr english.txt french.txt --figure alignment.pdf --table alignment.csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add_pair_arguments(parser)
    parser.add_argument(
        "--figure", type=Output, metavar="FILE", help="the picture, ending in .pdf, .svg or .png (default: none)"
    )
    parser.add_argument(
        "--table",
        type=Output,
        metavar="FILE",
        help="CSV with a row for each weight; its column panel is the line of SOURCE, counted from 1 (default: none)",
    )
    add_device_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    if arguments.figure is None and arguments.table is None:
        raise UserError("neither --figure nor --table: name a file for one of them")
    # These import Matplotlib, which --table does without, or PyTorch; both take seconds: too long for --help.
    if arguments.figure is not None:
        from nmt.report.drawing import formats_of, save, style
        from nmt.report.heatmap import draw
    from nmt.report.panels import Panel, write_panels
    from nmt.search.loaded import aligned
    from nmt.system.device import prepare
    from nmt.trained import load_trained

    if arguments.figure is not None:
        formats_of([arguments.figure])
    device = prepare(arguments)
    trained = load_trained(arguments.model, device)
    trained.require_attention("align")
    trained.freeze()
    sources, targets = read_symbol_pairs(arguments, trained)
    if arguments.figure is not None and len(sources) > PANELS:
        raise UserError(
            f"--figure: {arguments.source} has {len(sources)} lines, too many for one picture; "
            f"give at most {PANELS}, or --table alone"
        )
    panels = [Panel(str(line), *pair) for line, pair in enumerate(aligned(trained, sources, targets), 1)]
    if arguments.table is not None:
        write_panels(arguments.table, panels)
    if arguments.figure is not None:
        with style():
            save(draw(panels, min(2, len(panels))), [arguments.figure])
