"""The tables on WMT'14 at full size, from the measurements of `bench.data` and `bench.memory`.

The time of a stage is that for the largest measured text, times the ratio of the words. Its jobs, as in the workflow,
are assigned to the cores one by one, longest first; a stage starts when the one before it has ended.

The memory of a stage with a single job that keeps something for each pair is measured on as many pairs as WMT'14 has.
That of jobs on shards is extrapolated from the two largest texts. Memory for the distinct words grows ever more slowly
(Heaps' law), so that a straight line is an upper bound; the line is drawn through the two smallest texts, because in
larger ones, recombined from the same lines, new words are too rare.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar, get_type_hints

from nmt.corpora.registry import Corpus, read_registry
from nmt.report.markup import markdown_table
from nmt.settings.sections import Shard
from nmt.system.files import atomic
from nmt.system.tables import read_csv, write_csv

REGISTRY = Path("data/corpora.tsv")
MEASURED, MEMORY, COSTS = (Path(f"results/bench/{name}.csv") for name in ("data", "memory", "scale"))
PAGE = Path("docs/scale.md")
KEPT = 348_000_000  # words in the paper after selection (Section 4.1)
# Stages that keep the distinct words, and how many times: coverage has those of a corpus in addition to those of all.
DISTINCT = {"shortlist": 1, "coverage": 2}
PLAIN = "sacremoses"  # the baseline of tokenization
CORES = (8, 64)
GIGA, MEGA, HOUR = 1e9, 1e6, 3600
COLUMNS = ["stage", "jobs", "core_hours", *(f"hours_{cores}_cores" for cores in CORES), "peak_mb", "disk_gb"]
HEADINGS = [
    "stage",
    "jobs",
    "core hours",
    *(f"hours, {cores} cores" for cores in CORES),
    "MB per process",
    "GB on disk",
]
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


class Row(NamedTuple):
    """The measurements of a stage on a text with a number of pairs and target words."""

    stage: str
    pairs: int
    words: int
    seconds: float
    core_seconds: float
    pairs_a_second: float  # on a core
    peak_mb: float  # the largest process
    disk_mb: float  # its outputs
    processor: str
    text: str  # what the text consists of


class Peak(NamedTuple):
    """The memory of a stage on a text with a number of pairs."""

    stage: str
    pairs: int
    peak_mb: float
    processor: str


Kind = TypeVar("Kind", Row, Peak)


def read_rows(path: Path, kind: type[Kind]) -> list[Kind]:
    """The measurements in a CSV file."""
    types = get_type_hints(kind).values()
    rows = read_csv(path, kind._fields)
    return [kind._make(read(cell) for read, cell in zip(types, row, strict=True)) for row in rows]


def write_rows(path: Path, rows: Sequence[Row] | Sequence[Peak]) -> None:
    """Write measurements as CSV, with one decimal for seconds and sizes."""
    cells = [[f"{cell:.1f}" if isinstance(cell, float) else cell for cell in row] for row in rows]
    write_csv(path, rows[0]._fields, cells)


def total_pairs(corpora: Sequence[Corpus]) -> int:
    """The number of pairs of all corpora in the registry."""
    return sum(corpus.pairs or 0 for corpus in corpora)


def training_corpora() -> list[Corpus]:
    """The paper's training corpora."""
    return [corpus for corpus in read_registry(REGISTRY).values() if corpus.role == "train"]


def paper_words(corpora: Sequence[Corpus]) -> int:
    """The number of words of all corpora in the paper."""
    return sum(corpus.words or 0 for corpus in corpora)


def hours(jobs: Sequence[float], cores: int) -> float:
    """The hours that `cores` take for jobs of these lengths in seconds, longest first."""
    busy = [0.0] * cores
    for seconds in sorted(jobs, reverse=True):
        heapq.heapreplace(busy, busy[0] + seconds)
    return max(busy) / HOUR


def shares(stage: str, corpora: Sequence[Corpus]) -> list[float]:
    """The share of the text in each job of a stage; jobs on one side have the shares of that side."""
    whole = paper_words(corpora)
    if stage == "extract":
        return [(corpus.words or 0) / whole for corpus in corpora]
    if stage in ("tokenize", "clean", "score_pairs"):
        shards = [Shard().count(corpus.pairs or 0) for corpus in corpora]
        both = zip(corpora, shards, strict=True)
        return [(corpus.words or 0) / whole / count for corpus, count in both for _ in range(count)]
    return [1.0]


def memory(row: Row, before: Row, pairs: float, times: int = 1) -> float:
    """The MB of a stage on `pairs` pairs, extrapolated from `row` and from `before`, on a smaller text.

    The growth beyond `row` is `times` the growth between the two.
    """
    growth = max(0.0, row.peak_mb - before.peak_mb) / max(1, row.pairs - before.pairs)
    return row.peak_mb + times * growth * max(0.0, pairs - row.pairs)


def measured(rows: Sequence[Row], sizes: Sequence[int]) -> str:
    """The table of the measurements, a line for each stage."""
    of = {(row.stage, row.pairs): row for row in rows}
    columns = ["stage", *(f"s, {size / MEGA:g} M" for size in sizes), "pairs per second and core"]
    columns += [*(f"MB, {size / MEGA:g} M" for size in sizes), "MB on disk"]
    lines = []
    for stage in dict.fromkeys(row.stage for row in rows):
        own = [of[stage, size] for size in sizes]
        line = [stage, *(f"{row.seconds:.1f}" for row in own), f"{own[-1].pairs_a_second:,.0f}"]
        lines.append([*line, *(f"{row.peak_mb:.0f}" for row in own), f"{own[-1].disk_mb:,.0f}"])
    return "\n".join(markdown_table(columns, lines))


class Worked(NamedTuple):
    """The cost of all corpora.

    The rows of COLUMNS, the hours of all stages together on each of CORES, and the MB of the largest process.
    """

    rows: list[list[str]]
    hours: list[float]
    peak: float


def work_out(rows: Sequence[Row], peaks: Sequence[Peak], sizes: Sequence[int], corpora: Sequence[Corpus]) -> Worked:
    """Extrapolate from the largest text to all corpora; `peaks` were measured on a text of their size."""
    of = {(row.stage, row.pairs): row for row in rows}
    known = {peak.stage: peak.peak_mb for peak in peaks}
    pairs = total_pairs(corpora)
    together: dict[str, list[Row]] = {}
    for row in rows:
        if row.pairs == sizes[-1]:
            together.setdefault(row.stage.split(" ")[0], []).append(row)
    lines, sums, peak = [], [0.0] * (2 + len(CORES)), 0.0
    for stage, own in together.items():
        factor = paper_words(corpora) / own[0].words
        parts = shares(stage, corpora)
        jobs = [row.seconds * factor * part for row in own for part in parts]
        if stage in known:
            largest = known[stage]
        elif stage in DISTINCT:
            two = [(of[row.stage, sizes[:2][-1]], of[row.stage, sizes[0]]) for row in own]
            largest = max(memory(second, first, pairs, DISTINCT[stage]) for second, first in two)
        else:
            largest = max(memory(row, of[row.stage, sizes[-2:][0]], max(parts) * pairs) for row in own)
        disk = sum(row.disk_mb for row in own) * factor * MEGA / GIGA
        figures = [sum(jobs) / HOUR, *(hours(jobs, cores) for cores in CORES), disk]
        lines.append([stage, f"{len(jobs)}", *(f"{one:.2f}" for one in figures[:-1]), f"{largest:.0f}", f"{disk:.1f}"])
        sums = [total + figure for total, figure in zip(sums, figures, strict=True)]
        peak = max(peak, largest)
    lines.append(["all", "", *(f"{one:.2f}" for one in sums[:-1]), f"{peak:.0f}", f"{sums[-1]:.1f}"])
    return Worked(lines, sums[1:-1], peak)


def write_tables(source: Path, memory: Path, output: Path, page: Path) -> None:
    """Write the costs of all corpora, from the measurements in `source` and `memory`; renew both tables of `page`."""
    rows = [row for row in read_rows(source, Row) if not row.stage.startswith(PLAIN)]
    sizes = sorted({row.pairs for row in rows})
    worked = work_out(rows, read_rows(memory, Peak), sizes, training_corpora())
    write_csv(output, COLUMNS, worked.rows)
    tables = iter([measured(rows, sizes), "\n".join(markdown_table(HEADINGS, worked.rows))])
    text = TABLE.sub(lambda _: f"{next(tables)}\n", page.read_text(encoding="utf-8"))
    with atomic(page) as partial:
        partial.write_text(text, encoding="utf-8")
