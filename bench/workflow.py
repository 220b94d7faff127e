"""Draw the rules of the workflow as they depend on each other: docs/workflow.svg, by `python -m bench.workflow`.

The rules are those of `config/demo.yaml`. Each stands below all that it needs; an arrow is left out where a longer way
leads to the same rule.
"""

from __future__ import annotations

import argparse
import re
import sys
from itertools import pairwise
from statistics import fmean

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path as Curve

from bench.command import run
from bench.table import one_line_mistakes, parse
from nmt.monitor.follow import LAST_STAGE, STAGES, stage_of
from nmt.report.drawing import save, style
from nmt.system.options import Output

OUTPUT = Output("docs/workflow.svg")
PAGES = "index"  # stands for the sheets of the report as well
SHADES = ("#dbe9f6", "#e3f1e0", "#f6dfdc", "#ece4f3", "#fdf0d5")
WIDTH, HEIGHT, BEND = 1.32, 0.52, 0.22  # inches from box to box, and of an arrow's bend
SWEEPS = 24
Graph = dict[str, set[str]]  # rule -> the rules that it needs


def read_graph(text: str) -> Graph:
    """Snakemake's rule graph; the rules of pages are one, and `all` is left out."""
    labels = re.findall(r'(\d+)\[label = "(\w+)"', text)
    names = {number: PAGES if re.match("sheet_|index", label) else label for number, label in labels}
    graph: Graph = {name: set() for name in names.values() if name != "all"}
    for before, after in re.findall(r"(\d+) -> (\d+)", text):
        if names[after] not in ("all", names[before]):  # a rule graph may name a rule twice
            graph[names[after]].add(names[before])
    return graph


def reduced(graph: Graph) -> Graph:
    """The graph without the arrows that a longer way replaces."""

    def reached(rule: str) -> set[str]:
        return graph[rule].union(*map(reached, graph[rule]))

    return {rule: needs - set().union(*map(reached, needs)) for rule, needs in graph.items()}


def rows(graph: Graph) -> tuple[list[list[str]], Graph]:
    """The rules by the longest chain before them, each row in an order with few crossings.

    An arrow that passes a row takes a place in it; the returned graph has it as a rule named ARROW>ROW.
    """

    def longest(rule: str) -> int:
        return 1 + max(map(longest, graph[rule]), default=-1)

    depth = {rule: longest(rule) for rule in graph}
    for rule in graph:
        if not graph[rule]:  # it may wait until it is needed
            depth[rule] = min(depth[one] for one in graph if rule in graph[one]) - 1
    whole: Graph = {rule: set() for rule in graph}
    for rule, needs in graph.items():
        for one in needs:
            passed = [f"{one}>{rule}>{row}" for row in range(depth[one] + 1, depth[rule])]
            for before, after in pairwise([one, *passed, rule]):
                whole.setdefault(after, set()).add(before)
            depth |= {name: int(name.rpartition(">")[2]) for name in passed}
    ordered = [sorted(one for one in whole if depth[one] == row) for row in range(max(depth.values()) + 1)]
    beside = {rule: needs | {one for one in whole if rule in whole[one]} for rule, needs in whole.items()}
    for _ in range(SWEEPS):
        place = {rule: x for row in ordered for rule, x in places(row).items()}
        for row in ordered:
            row.sort(key=lambda rule: fmean([place[one] for one in beside[rule]] or [0.0]))
            place |= places(row)
    return ordered, whole


def places(row: list[str]) -> dict[str, float]:
    """The places of a row, centred at 0; an arrow takes less than a rule."""
    widths = [0.3 if ">" in rule else 1.0 for rule in row]
    return {rule: sum(widths[:number]) + widths[number] / 2 - sum(widths) / 2 for number, rule in enumerate(row)}


def draw(graph: Graph) -> Figure:
    """A box for each rule, shaded by stage, and an arrow to it from each that it needs."""
    ordered, whole = rows(graph)
    place = {rule: (WIDTH * x, -HEIGHT * row) for row, names in enumerate(ordered) for rule, x in places(names).items()}
    edge = WIDTH / 2 + max(abs(x) for x, _ in place.values())
    figure = Figure(figsize=(2 * edge, HEIGHT * len(ordered)))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(-edge, edge), ylim=(-HEIGHT * (len(ordered) - 0.5), HEIGHT / 2))
    axes.set_axis_off()
    stages = list(dict.fromkeys([*STAGES.values(), LAST_STAGE]))
    for rule, (x, y) in place.items():
        if ">" not in rule:
            box = {"boxstyle": "round,pad=0.3", "edgecolor": "0.4", "linewidth": 0.7}
            box |= {"facecolor": SHADES[stages.index(stage_of(rule))]}
            axes.text(x, y, rule, ha="center", va="center", fontsize=7.5, bbox=box)
        for one in sorted(whole[rule]):
            start = place[one][0], place[one][1] - (0 if ">" in one else 0.13)
            end = x, y + (0 if ">" in rule else 0.13)
            bent = [start, (start[0], start[1] - BEND), (end[0], end[1] + BEND), end]
            curve = Curve(bent, [Curve.MOVETO, *[Curve.CURVE4] * 3])
            head = "-" if ">" in rule else "-|>"
            axes.add_patch(
                FancyArrowPatch(path=curve, arrowstyle=head, mutation_scale=6, color="0.55", linewidth=0.7, zorder=0)
            )
    for number, stage in enumerate(stages):
        box = {"boxstyle": "square,pad=0.3", "facecolor": SHADES[number], "edgecolor": "none"}
        axes.text(-edge + 0.1, -HEIGHT * 0.5 * number, stage, ha="left", va="center", fontsize=7.5, bbox=box)
    return figure


def rule_graph() -> str:
    """Snakemake's rule graph of the demonstration."""
    command = [sys.executable, "-m", "snakemake", "--configfile", "config/demo.yaml", "--forceall"]
    return run([*command, "--rulegraph", "dot"])


@one_line_mistakes("workflow")
def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.workflow", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--output", type=Output, default=OUTPUT, help="a .svg, .png or .pdf (default: %(default)s)")
    arguments = parse(parser)
    with style():
        save(draw(reduced(read_graph(rule_graph()))), [str(arguments.output)])


if __name__ == "__main__":
    main()
